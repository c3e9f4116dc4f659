/** The controllers and the scheduler of one process; of several masters on one store, those of one at a time. */
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Client } from '../client/client.ts';
import { createInformerFactory } from '../client/shared-informer.ts';
import type { ControllerFactory } from '../controller-runtime/definition.ts';
import { createEventRecorder } from '../controller-runtime/event-recorder.ts';
import { runLeaderElection } from '../controller-runtime/leader-election.ts';
import { createManager } from '../controller-runtime/manager.ts';
import { beginTerm, duringTerm } from '../storage/term.ts';
import type { Api } from './api.ts';

export interface RunControllersOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Others may share the store. */
  readonly sharesStore: boolean;
  /** Names this process among them. */
  readonly hostname: string;
  readonly controllers: readonly ControllerFactory[];
  readonly scheduler: ControllerFactory;
}

/** What they need of the API server of this process. */
type OwnApi = Pick<Api, 'store' | 'kinds' | 'clientOf'>;

const leaseName = 'minik8s-controllers';

/** Resolves when the signal has aborted and all of them have ended. */
export async function runControllers(
  options: RunControllersOptions,
  api: OwnApi,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, hostname } = options;
  if (!options.sharesStore) return runTerm(options, api, api.clientOf, signal);
  await runLeaderElection(
    {
      client: api.clientOf('kube-controller-manager'),
      clock,
      random,
      log,
      config: {
        namespace: 'kube-system',
        name: leaseName,
        identity: `${hostname}_${random.uuid()}`,
      },
      async lead(leading, { term, giveUp }) {
        const claim = await beginTerm(api.store, leaseName, term);
        const store = duringTerm(api.store, claim, giveUp);
        await runTerm(options, api, (component) => api.clientOf(component, store), leading);
      },
    },
    signal,
  );
}

/** Nothing is remembered from an earlier term, and the first lists show all that was written in those. */
async function runTerm(
  { clock, random, log, controllers, scheduler }: RunControllersOptions,
  { kinds }: OwnApi,
  clientOf: (component: string) => Client,
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf('kube-controller-manager');
  const ofScheduler = clientOf('kube-scheduler');
  const events = createEventRecorder({ client, clock, random, log, component: 'controller-manager' });
  const schedulerEvents = createEventRecorder({
    ...{ client: ofScheduler, clock, random, log },
    component: 'default-scheduler',
  });
  const informers = createInformerFactory({ client, clock, random, log, newest: true });
  const manager = createManager({ client, informers, kinds, events, clock, random, log });
  for (const factory of controllers) manager.add(factory);
  manager.add((context) => scheduler({ ...context, client: ofScheduler, events: schedulerEvents }));
  try {
    await manager.run(signal);
  } finally {
    await Promise.all([events.stop(), schedulerEvents.stop()]);
  }
}
