/** `npm run readme`: writes the parts of the README that are made from the code. */
import { writeFileSync } from 'node:fs';
import {
  apisSection,
  configsSection,
  embedSection,
  groupConfigsSection,
  readme,
  withSection,
} from './readme-tables.ts';

const sections = {
  embed: embedSection(),
  configs: configsSection(),
  'group-configs': groupConfigsSection(),
  'supported-apis': apisSection(),
};

const text = Object.entries(sections).reduce((before, [name, content]) => withSection(before, name, content), readme());
writeFileSync(new URL('../../README.md', import.meta.url), text);
