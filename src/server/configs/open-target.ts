/** Finds what a config request names. Per request, so that what is set for all brokers is read once. */
import type { ConfigDefinitions, Configs } from '../../common/config-definition.ts';
import { ApiError } from '../../common/errors.ts';
import type { Broker } from '../broker.ts';
import { openBrokerTarget, readBrokerDefaults } from './broker-configs.ts';
import { ConfigResourceType, type ConfigTarget } from './config-target.ts';
import { groupDefinitions, openGroupTarget } from './group-configs.ts';
import type { ConfigResource } from './per-resource.ts';
import { openTopicTarget } from './topic-configs.ts';

export class ConfigTargets {
  readonly #broker: Broker;
  readonly #groupDefinitions: ConfigDefinitions;
  #brokerDefaults: Promise<Configs> | undefined;

  constructor(broker: Broker) {
    this.#broker = broker;
    this.#groupDefinitions = groupDefinitions(broker.groupSettings);
  }

  /** @throws ApiError when there is no such resource, or none of that type here */
  async open({ resourceType, resourceName }: ConfigResource): Promise<ConfigTarget> {
    switch (resourceType) {
      case ConfigResourceType.topic:
        return openTopicTarget(this.#broker, resourceName, await this.#defaults());
      case ConfigResourceType.group:
        return openGroupTarget(this.#broker, resourceName, this.#groupDefinitions, await this.#defaults());
      case ConfigResourceType.broker:
        return openBrokerTarget(this.#broker, resourceName, await this.#defaults());
      case ConfigResourceType.clientMetrics:
        throw new ApiError('INVALID_REQUEST', 'client metrics (KIP-714) are not built');
      default:
        throw new ApiError('INVALID_REQUEST', `there are no configs of resource type ${resourceType}`);
    }
  }

  #defaults(): Promise<Configs> {
    this.#brokerDefaults ??= readBrokerDefaults(this.#broker);
    return this.#brokerDefaults;
  }
}
