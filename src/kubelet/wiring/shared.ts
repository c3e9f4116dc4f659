/**
 * Parts that several rooms of the agent share. They need nothing of any room and are made first, so that no
 * room needs a later one: a later room writes into the shared part, an earlier one reads it.
 *
 * - `engine`: written by the engine's connection (node), read by volumes, devices, usage and pods;
 * - `nodeState`: written by the node's agent (node), read by images, volumes and pods;
 * - `localPods`: written by the pods' workers (pods), read by devices, usage, node and server;
 * - `startRecords`: written by images and pods, read by the server;
 * - `statuses`, `mirrors` and `events`: the reports of the agent to the API server, used by every room.
 */

import { MirrorPods, mirroredEvents } from '../node/mirror-pods.ts';
import { NodeState } from '../node/node-state.ts';
import { readNodeUsage } from '../node/node-usage.ts';
import { defaultEvictionHard, parseThresholds } from '../node/plan/eviction-thresholds.ts';
import { allocatableOf, capacityOf } from '../node/plan/node-status.ts';
import { LocalPods } from '../pods/local-pods.ts';
import { StatusWriter } from '../pods/status-writer.ts';
import { EngineState } from '../runtime/engine-state.ts';
import { RuntimeOperations } from '../runtime/measured-runtime.ts';
import { StartRecords } from '../server/start-records.ts';
import type { KubeletOptions } from './kubelet-options.ts';

const heartbeatMs = 10_000;

export type Shared = ReturnType<typeof shareParts>;

/** Throws an error with a message of one line when more is reserved than the machine has. */
export function shareParts(given: KubeletOptions) {
  const { client, clock, log, facts, dataDir, maxPods = 110 } = given;
  const operations = new RuntimeOperations(clock);
  const engine = new EngineState();
  const localPods = new LocalPods();
  const statuses = new StatusWriter(client, clock, log);
  const mirrors = new MirrorPods({ client, clock, log, statuses });
  return {
    ...given,
    operations,
    runtime: operations.measure(given.runtime),
    engine,
    nodeState: new NodeState(),
    localPods,
    statuses,
    mirrors,
    events: mirroredEvents(given.events, mirrors),
    startRecords: new StartRecords(clock, () => localPods.list()),
    maxPods,
    heartbeatMs: given.heartbeatMs ?? heartbeatMs,
    evictionHard: given.evictionHard ?? parseThresholds(defaultEvictionHard),
    /** The node's allocatable resources without its devices, as they are reported. */
    allocatable: allocatableOf(capacityOf({ facts, maxPods }), given.systemReserved),
    readUsage: given.readUsage ?? (() => readNodeUsage({ dataDir, engineDir: engine.directory })),
  };
}
