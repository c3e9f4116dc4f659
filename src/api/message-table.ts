/** The protobuf messages of Kubernetes' own kinds. */
import { createMessageTable, type MessageTable } from '../apimachinery/protobuf/message-types.ts';
import { kubernetesFields } from './field-table.ts';

export const kubernetesMessages: MessageTable = createMessageTable(kubernetesFields);
