/** The two kinds of webhook configurations: what their definitions have in common. */
import type { KubeObject } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { ageColumn, nameColumn } from '../../columns.ts';
import { validateWebhooks, type Webhook } from './webhook-validation.ts';

export const webhookGroup = 'admissionregistration.k8s.io';

type WebhookConfiguration = KubeObject & { webhooks?: readonly Webhook[] };

export const webhookDefaults = {
  failurePolicy: 'Fail',
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  timeoutSeconds: 10,
} as const;

/**
 * Fields that need no check here, because the validation of webhooks requires them with messages of its own.
 */
export const webhookMayLack = 'name clientConfig sideEffects admissionReviewVersions';

export const webhookChoices = {
  failurePolicy: ['Fail', 'Ignore'],
  matchPolicy: ['Equivalent', 'Exact'],
  sideEffects: [],
} as const;

export const sharedParts = {
  group: webhookGroup,
  version: 'v1',
  shortNames: [],
  categories: ['api-extensions'],
  namespaced: false,
  strategy: {
    validate: ({ webhooks = [] }: WebhookConfiguration) => validateWebhooks(webhooks),
    countsGenerations: true,
    updatesNameVersion: true,
  },
  hasStatus: false,
  columns: [
    nameColumn,
    {
      name: 'Webhooks',
      type: 'integer',
      description: 'The number of webhooks.',
      cell: ({ webhooks = [] }: WebhookConfiguration) => webhooks.length,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
} as const satisfies Partial<ResourceDefinition<WebhookConfiguration>>;
