/** How Kubernetes' own kinds are written in protobuf. */
import { createMessageTable, type MessageTable } from '../apimachinery/protobuf/message-types.ts';
import { kubernetesFields } from './field-table.ts';

export const kubernetesMessages: MessageTable = createMessageTable(kubernetesFields);
