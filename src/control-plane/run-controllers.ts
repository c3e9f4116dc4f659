/**
 * The controllers and the scheduler of one process. If several masters share a store, only the leader runs
 * them.
 */

import { controllersLease } from '../api/coordination/v1/lease.ts';
import type { ExtensionKinds } from '../apimachinery/extension-kinds.ts';
import { componentUser, serviceAccountUser, type UserInfo } from '../apiserver/request/user.ts';
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Client } from '../client/client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import type { AccountedController, ControllerFactory } from '../controller-runtime/definition.ts';
import { createEventRecorder, type StoppableEventRecorder } from '../controller-runtime/event-recorder.ts';
import { runLeaderElection } from '../controller-runtime/leader-election.ts';
import { createManager } from '../controller-runtime/manager.ts';
import type { LeaderMetrics, QueueMetrics } from '../controller-runtime/queue-metrics.ts';
import { beginTerm, duringTerm } from '../storage/term.ts';
import type { Api } from './api.ts';
import { laterStart } from './later-start.ts';

/** A store that other masters share from some time on. */
export interface LaterShared {
  /** Aborts at that time. */
  readonly begins: AbortSignal;
  /** Called afterwards, once the controllers that ran without an election have ended. */
  onEnded(): void;
}

export interface RunControllersOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent if tracing is off. */
  readonly tracer?: Tracer;
  /** True if other masters may share the store. */
  readonly sharesStore: boolean | LaterShared;
  /** Name of this process among the masters. */
  readonly hostname: string;
  readonly controllers: readonly AccountedController[];
  readonly scheduler: ControllerFactory;
  /** Metrics of the queues; default none. */
  readonly queues?: QueueMetrics;
  /** Measures what blocks the event loop; default none. */
  readonly loopMeter?: LoopMeter;
  readonly leader?: LeaderMetrics;
}

/** The parts of this process's API server that controllers use. */
type OwnApi = Pick<Api, 'store' | 'kinds' | 'clientOf'> & { readonly extensionKinds: ExtensionKinds };

const leaseName = controllersLease.name;

/** Field manager of the controllers. */
const manager = 'kube-controller-manager';
const controllerManager = componentUser(manager);
const schedulerUser = componentUser('kube-scheduler');

/** Resolves when the signal has aborted and all controllers have ended. */
export async function runControllers(
  options: RunControllersOptions,
  api: OwnApi,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, hostname, leader, sharesStore } = options;
  leader?.leads(leaseName, sharesStore !== true);
  if (sharesStore === false) return runTerm(options, api, api.clientOf, signal);
  if (sharesStore !== true) {
    await runTerm(options, api, api.clientOf, AbortSignal.any([signal, sharesStore.begins]));
    if (signal.aborted) return;
    leader?.leads(leaseName, false);
    sharesStore.onEnded();
  }
  await runLeaderElection(
    {
      client: api.clientOf(controllerManager, manager),
      clock,
      random,
      log,
      config: {
        ...controllersLease,
        identity: `${hostname}_${random.uuid()}`,
      },
      async lead(leading, { term, giveUp }) {
        const claim = await beginTerm(api.store, leaseName, term);
        const store = duringTerm(api.store, claim, giveUp);
        leader?.leads(leaseName, true);
        try {
          await runTerm(options, api, (user, agent) => api.clientOf(user, agent, store), leading);
        } finally {
          leader?.leads(leaseName, false);
        }
      },
    },
    signal,
  );
}

/**
 * No state is kept from an earlier term: the first lists contain everything that was written then. All
 * controllers read through the informers of the controller manager; other requests of a controller use its
 * own account, those of the scheduler its own user.
 */
async function runTerm(
  { clock, random, log, tracer, controllers, scheduler, queues, loopMeter }: RunControllersOptions,
  { kinds, extensionKinds }: OwnApi,
  clientOf: (user: UserInfo, agent: string) => Client,
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf(controllerManager, manager);
  const schedulerClient = clientOf(schedulerUser, 'kube-scheduler');
  const recorders = new Map<string, StoppableEventRecorder>();
  const recorderOf = (component: string, as: Client) =>
    recorders.getOrInsertComputed(component, () =>
      createEventRecorder({ client: as, clock, random, log, component }),
    );
  const events = recorderOf('controller-manager', client);
  const informers = createInformerFactory({ client, clock, random, log, newest: true });
  const watchers = { ...(queues && { queues }), ...(tracer && { tracer }), ...(loopMeter && { loopMeter }) };
  const running = createManager({
    ...{ client, informers, kinds, extensionKinds, events, clock, random, log },
    ...watchers,
    later: laterStart({ clock, informers }, signal),
  });
  for (const { account, eventSource, controller } of controllers) {
    const own = clientOf(serviceAccountUser('kube-system', account), manager);
    const ownEvents = recorderOf(eventSource ?? account, own);
    running.add((context) => controller({ ...context, client: own, events: ownEvents }));
  }
  const schedulerEvents = recorderOf('default-scheduler', schedulerClient);
  running.add((context) => scheduler({ ...context, client: schedulerClient, events: schedulerEvents }));
  try {
    await running.run(signal);
  } finally {
    await Promise.all([...recorders.values()].map((recorder) => recorder.stop()));
  }
}
