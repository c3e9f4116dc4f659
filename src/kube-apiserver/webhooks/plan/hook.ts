/** Webhooks of all configurations, in the order in which they are called. */
import type { MutatingWebhookConfiguration } from '../../../api/admissionregistration/v1/mutating-webhook-configuration.ts';
import type { ValidatingWebhookConfiguration } from '../../../api/admissionregistration/v1/validating-webhook-configuration.ts';
import type { Webhook } from '../../../api/admissionregistration/v1/webhook-validation.ts';

export interface Hook {
  /** Identifies the webhook among those of one sort. */
  readonly id: string;
  readonly name: string;
  readonly webhook: Webhook;
}

type Configuration = MutatingWebhookConfiguration | ValidatingWebhookConfiguration;

/** Returns the webhooks: configurations by name, the webhooks of each in its order. */
export const hooksOf = (configurations: readonly Configuration[]): readonly Hook[] =>
  configurations
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ metadata, webhooks = [] }) =>
      webhooks.map((webhook) => {
        const { name = '' } = webhook;
        return { id: `${metadata.name}/${name}`, name, webhook };
      }),
    );
