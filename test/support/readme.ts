/** `npm run readme`: writes the parts of the README that are made from the code. */
import { writeFileSync } from 'node:fs';
import { configsSection, embedSection, readme, withSection } from './readme-tables.ts';

const text = withSection(readme(), 'embed', embedSection());
writeFileSync(new URL('../../README.md', import.meta.url), withSection(text, 'configs', configsSection()));
