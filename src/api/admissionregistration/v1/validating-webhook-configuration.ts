/** ValidatingWebhookConfiguration: webhooks that may reject requests. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { ValidatingWebhookConfiguration } from './types.gen.ts';
import { sharedParts, webhookChoices, webhookDefaults, webhookMayLack } from './webhook-configuration.ts';

export type { ValidatingWebhookConfiguration } from './types.gen.ts';

export const validatingWebhookConfigurationResource: ResourceDefinition<ValidatingWebhookConfiguration> = {
  ...sharedParts,
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  singular: 'validatingwebhookconfiguration',
  typeName: 'admissionregistration.v1.ValidatingWebhookConfiguration',
  rules: {
    // Types that both kinds of configurations use have their rules here.
    'admissionregistration.v1.RuleWithOperations': {
      defaults: { scope: '*' },
      choices: { scope: ['*', 'Cluster', 'Namespaced'] },
    },
    'admissionregistration.v1.WebhookClientConfig': {},
    'admissionregistration.v1.ServiceReference': { defaults: { port: 443 }, mayLack: 'name namespace' },
    'admissionregistration.v1.MatchCondition': { defaults: { name: '', expression: '' } },
    'admissionregistration.v1.ValidatingWebhookConfiguration': {},
    'admissionregistration.v1.ValidatingWebhook': {
      mayLack: webhookMayLack,
      defaults: webhookDefaults,
      choices: webhookChoices,
    },
  },
};
