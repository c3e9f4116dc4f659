/** What the node agent reports of a pod. */
import * as v from 'valibot';
import { conditionSchema, int32, struct, time } from '../../../apimachinery/schema.ts';

const containerStateSchema = struct({
  waiting: v.optional(struct({ reason: v.optional(v.string()), message: v.optional(v.string()) })),
  running: v.optional(struct({ startedAt: v.optional(time()) })),
  terminated: v.optional(
    struct({
      exitCode: int32(),
      signal: v.optional(int32()),
      reason: v.optional(v.string()),
      message: v.optional(v.string()),
      startedAt: v.optional(time()),
      finishedAt: v.optional(time()),
      containerID: v.optional(v.string()),
    }),
  ),
});

const containerStatusSchema = struct({
  name: v.string(),
  image: v.string(),
  imageID: v.string(),
  containerID: v.optional(v.string()),
  ready: v.boolean(),
  started: v.optional(v.boolean()),
  restartCount: int32(),
  state: v.optional(containerStateSchema),
  lastState: v.optional(containerStateSchema),
});

export const podStatusSchema = struct({
  phase: v.optional(v.picklist(['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'])),
  reason: v.optional(v.string()),
  message: v.optional(v.string()),
  hostIP: v.optional(v.string()),
  hostIPs: v.optional(v.array(struct({ ip: v.string() }))),
  podIP: v.optional(v.string()),
  podIPs: v.optional(v.array(struct({ ip: v.string() }))),
  startTime: v.optional(time()),
  qosClass: v.optional(v.picklist(['Guaranteed', 'Burstable', 'BestEffort'])),
  conditions: v.optional(v.array(conditionSchema)),
  nominatedNodeName: v.optional(v.string()),
  initContainerStatuses: v.optional(v.array(containerStatusSchema)),
  containerStatuses: v.optional(v.array(containerStatusSchema)),
});

export type PodStatus = v.InferOutput<typeof podStatusSchema>;
export type ContainerStatus = v.InferOutput<typeof containerStatusSchema>;
export type ContainerState = v.InferOutput<typeof containerStateSchema>;
