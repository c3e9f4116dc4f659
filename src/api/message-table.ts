/**
 * The field numbers of Kubernetes' own kinds, one line for each type in the table of fields (message-types.ts says how
 * a line reads). Numbers never change; a field that came after Kubernetes 1.32 has none here and is passed over, as a
 * server of that version does.
 */
import { createMessageTable, type MessageTable } from '../apimachinery/protobuf/message-types.ts';
import { kubernetesFields } from './field-table.ts';
import { accessMessages } from './protobuf/access.ts';
import { clusterMessages } from './protobuf/cluster.ts';
import { coreMessages } from './protobuf/core.ts';
import { extensionMessages } from './protobuf/extension.ts';
import { metaMessages } from './protobuf/meta.ts';
import { networkMessages } from './protobuf/network.ts';
import { workloadMessages } from './protobuf/workloads.ts';

/** By name in the table of fields; parts, marked `^` in other lines, are in no table but this. */
export const messageLines: Readonly<Record<string, string>> = {
  ...metaMessages,
  ...coreMessages,
  ...workloadMessages,
  ...networkMessages,
  ...accessMessages,
  ...clusterMessages,
  ...extensionMessages,
};

export const kubernetesMessages: MessageTable = createMessageTable(messageLines, kubernetesFields);
