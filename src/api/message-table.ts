/** The protobuf messages of Kubernetes' own kinds. */
import { createMessageTable, type MessageTable } from '../apimachinery/protobuf/message-types.ts';
import { kubernetesFields } from './field-table.ts';

const schema = 'apiextensions.v1.JSONSchemaProps';

export const kubernetesMessages: MessageTable = createMessageTable(kubernetesFields, {
  [`${schema}.items`]: [schema, `[${schema}]`],
  [`${schema}.additionalItems`]: ['bool', schema],
  [`${schema}.additionalProperties`]: ['bool', schema],
  [`${schema}.dependencies`]: [schema, '[string]'],
});
