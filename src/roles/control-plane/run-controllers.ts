/** The controllers and the scheduler of one process; of several masters on one store, those of one at a time. */
import { hostname } from 'node:os';
import type { Kinds } from '../../apimachinery/kind-set.ts';
import type { Client } from '../../client/client.ts';
import { createInformerFactory } from '../../client/shared-informer.ts';
import { createEventRecorder } from '../../controller-runtime/event-recorder.ts';
import { runLeaderElection } from '../../controller-runtime/leader-election.ts';
import { createManager } from '../../controller-runtime/manager.ts';
import { controllers } from '../../controllers/index.ts';
import { scheduler } from '../../scheduler/scheduler.ts';
import type { Store } from '../../storage/store.ts';
import { beginTerm, duringTerm } from '../../storage/term.ts';
import type { ProcessContext } from '../process-context.ts';
import type { Settings } from '../settings/settings.ts';
import type { CertificateRequests } from './certificate-requests.ts';

export interface RunControllersOptions extends ProcessContext {
  readonly settings: Settings<
    | 'etcd-endpoints'
    | 'cluster-cidr'
    | 'service-cidr'
    | 'cluster-domain'
    | 'node-approval'
    | 'node-monitor-grace-period'
    | 'scheduler-policy'
  >;
  readonly certificates: CertificateRequests;
  readonly kinds: Kinds;
}

/** The API server of this process, as its parts call it. */
export interface OwnServer {
  readonly store: Store;
  /** The client of a part, which writes through `store` when given. */
  clientOf(component: string, store?: Store): Client;
}

const leaseName = 'minik8s-controllers';

/** Resolves when the signal has aborted and all of them have ended. */
export async function runControllers(
  options: RunControllersOptions,
  server: OwnServer,
  signal: AbortSignal,
): Promise<void> {
  const { settings, clock, random, log } = options;
  // An embedded etcd has one master; masters that share one must agree who leads.
  if (!settings['etcd-endpoints']) return runTerm(options, server.clientOf, signal);
  await runLeaderElection(
    {
      client: server.clientOf('kube-controller-manager'),
      clock,
      random,
      log,
      config: {
        namespace: 'kube-system',
        name: leaseName,
        identity: `${hostname()}_${random.uuid()}`,
      },
      async lead(leading, { term, giveUp }) {
        const claim = await beginTerm(server.store, leaseName, term);
        const store = duringTerm(server.store, claim, giveUp);
        await runTerm(options, (component) => server.clientOf(component, store), leading);
      },
    },
    signal,
  );
}

/** Nothing is remembered from an earlier term, and the first lists show all that was written in those. */
async function runTerm(
  { settings, certificates, kinds, clock, random, log }: RunControllersOptions,
  clientOf: (component: string) => Client,
  signal: AbortSignal,
): Promise<void> {
  const client = clientOf('kube-controller-manager');
  const recorderOf = (component: string) => createEventRecorder({ client, clock, random, log, component });
  const [events, schedulerEvents] = [recorderOf('controller-manager'), recorderOf('default-scheduler')];
  const informers = createInformerFactory({ client, clock, random, log, newest: true });
  const manager = createManager({
    client,
    informers,
    kinds,
    events,
    clock,
    random,
    log,
  });
  for (const factory of controllers({
    clusterDomain: settings['cluster-domain'],
    clusterCidr: settings['cluster-cidr'],
    serviceCidr: settings['service-cidr'],
    nodeApproval: settings['node-approval'],
    nodeGracePeriodMs: settings['node-monitor-grace-period'],
    certificates,
  }))
    manager.add(factory);
  const schedule = scheduler({ policy: settings['scheduler-policy'] });
  manager.add((context) => schedule({ ...context, events: schedulerEvents }));
  try {
    await manager.run(signal);
  } finally {
    await Promise.all([events.stop(), schedulerEvents.stop()]);
  }
}
