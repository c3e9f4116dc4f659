/** MutatingWebhookConfiguration: webhooks that may change objects before they are stored. */
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import type { MutatingWebhookConfiguration } from './types.gen.ts';
import { sharedParts, webhookChoices, webhookDefaults, webhookMayLack } from './webhook-configuration.ts';

export type { MutatingWebhookConfiguration } from './types.gen.ts';

export const mutatingWebhookConfigurationResource: ResourceDefinition<MutatingWebhookConfiguration> = {
  ...sharedParts,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  singular: 'mutatingwebhookconfiguration',
  typeName: 'admissionregistration.v1.MutatingWebhookConfiguration',
  rules: {
    'admissionregistration.v1.MutatingWebhookConfiguration': {},
    'admissionregistration.v1.MutatingWebhook': {
      mayLack: webhookMayLack,
      defaults: { ...webhookDefaults, reinvocationPolicy: 'Never' },
      choices: { ...webhookChoices, reinvocationPolicy: ['IfNeeded', 'Never'] },
    },
  },
};
