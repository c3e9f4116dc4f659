/**
 * The control plane as a value: API server, caches, controllers and scheduler, made from a store, a clock,
 * randomness and connections. It uses no operating system, so the same control plane runs in a role, in a
 * test with a simulated clock, and several times in one process.
 */
import { type SystemObjects, systemObjects } from '../api/core/v1/system-objects.ts';
import { serviceAccountUser, systemUser } from '../apiserver/request/user.ts';
import { aborted, unlessAborted } from '../base/abort.ts';
import { inBackground } from '../base/in-background.ts';
import type { Family } from '../base/metrics/exposition.ts';
import { controllersWith } from '../controller-runtime/definition.ts';
import { type ControllersOptions, controllers } from '../controllers/index.ts';
import { identityOf } from '../controllers/masters/masters-plan.ts';
import { podRangeClaims } from '../controllers/nodes/node-ipam.ts';
import { functionResource } from '../features/functions/api/function.ts';
import type { ReachesPod } from '../features/functions/server/reached-pods.ts';
import type { FeatureSettings } from '../features/index.ts';
import type { TriggerOptions } from '../features/triggers/controller/trigger.ts';
import { workflowRunResource } from '../features/workflows/api/workflow-run.ts';
import { defaultPlaces } from '../kube-apiserver/bootstrap.ts';
import { type SchedulerOptions, scheduler } from '../scheduler/scheduler.ts';
import { measuredStore } from '../storage/measured-store.ts';
import { announceMaster, type NamedMaster } from './announce-master.ts';
import { type Api, type ApiOptions, createApi } from './api.ts';
import { functionCaller } from './function-caller.ts';
import { countObjects, planeMetrics } from './metric-pages.ts';
import { type LaterShared, runControllers } from './run-controllers.ts';
import { featuresOf } from './server-features.ts';

export interface ControlPlaneOptions
  extends Omit<
      ApiOptions,
      | 'objects'
      | 'readCertificateRequest'
      | 'mayRegister'
      | 'podRangeProblem'
      | 'advertiseAddress'
      | 'serviceCIDR'
      | 'clusterCIDR'
      | 'clusterDomain'
      | 'functionCalls'
      | 'workflowCalls'
      | 'metrics'
    >,
    Omit<ControllersOptions, 'signSecretToken' | 'askExtensionServer'>,
    Omit<FeatureSettings, 'triggers'> {
  /** Address at which nodes and pods reach this API server. */
  readonly master: NamedMaster;
  /** Default: the tenth address of the Service range. */
  readonly dnsAddress?: string;
  readonly scheduler?: SchedulerOptions;
  /** Selects the pods to which this server connects directly; default none. */
  readonly reachesPod?: ReachesPod;
  /** True if other masters may share the store: only one of them leads at a time. */
  readonly sharesStore: boolean | LaterShared;
  /** Resource usage of this process, for the metrics pages. */
  readonly processMetrics?: () => readonly Family[];
}

export interface ControlPlane extends Omit<Api, 'run'> {
  /**
   * Resolves when clients are served and the Service `kubernetes` lists this master; never resolves if `run`
   * ends earlier.
   */
  readonly ready: Promise<void>;
  /**
   * Starts the parts bottom-up and, when the signal aborts, stops them top-down, so that each writer ends
   * before the part that it writes to. May be called once. `listen` makes the server reachable before the
   * Service lists it; its result is awaited after the abort. Resolves when every part has ended; rejects when
   * a part cannot start or fails later.
   */
  run(signal: AbortSignal, listen?: Listen): Promise<void>;
}

/**
 * Resolves when clients are served; `closed` resolves after the abort, when the last client has been served.
 */
export type Listen = (until: AbortSignal) => Promise<{ readonly closed: Promise<void> }>;

export function createControlPlane(options: ControlPlaneOptions): ControlPlane {
  const { clock, random, log, master, clusterCidr, serviceCidr, nodeApproval, ownNode } = options;
  const objects = objectsOf(options);
  const metrics = planeMetrics(options);
  const { run, ...api } = createApi({
    ...options,
    store: measuredStore(options.store, metrics.apiserver, clock),
    metrics: metrics.apiserver,
    pages: { ...options.pages, controllers: metrics.controllers, scheduler: metrics.scheduler },
    objects,
    serviceCIDR: serviceCidr,
    clusterCIDR: clusterCidr,
    readCertificateRequest: options.certificates.read,
    mayRegister: (node) => nodeApproval === 'auto' || node === ownNode,
    podRangeProblem: podRangeClaims(clusterCidr),
    advertiseAddress: `${master.address}:${master.port}`,
    workflowCalls: workflowCalls(() => api),
    functionCalls: functionCalls(options, () => api),
  });
  countObjects(metrics.apiserver, api.kinds, api.cache);
  const { signSecretToken, askExtensionServer, extensionKinds } = api.server;
  const placedCalls = options.placedCalls ?? api.placedCalls;
  const settings = { ...options, placedCalls, triggers: triggerOptions(api) };
  const managed = {
    controllers: [
      ...controllersWith(
        controllers,
        { ...options, signSecretToken, askExtensionServer },
        metrics.controllers,
      ),
      ...featuresOf(options.features).flatMap((feature) =>
        controllersWith(feature.controllers, settings, metrics.controllers),
      ),
    ],
    scheduler: scheduler({ ...options.scheduler, metrics: metrics.scheduling }),
  };
  const ready = Promise.withResolvers<void>();

  const serve = async (listen: Listen | undefined, signal: AbortSignal) => {
    const started = new AsyncDisposableStack();
    try {
      if (listen) await listenUntil(started, listen);
      signal.throwIfAborted();
      const published = Promise.withResolvers<void>();
      const announcing = inBackground(started, (until) => {
        const client = api.clientOf(systemUser('apiserver'), 'kube-apiserver');
        const onPublished = published.resolve;
        return announceMaster({ client, clock, random, log, master, objects, onPublished }, until);
      });
      await unlessAborted(signal, Promise.race([published.promise, announcing]));
      ready.resolve();
      const managing = inBackground(started, (until) =>
        runControllers(
          { ...options, ...metrics, ...managed, hostname: master.hostname },
          { ...api, extensionKinds },
          until,
        ),
      );
      await Promise.race([aborted(signal), announcing, managing]);
    } finally {
      await started.disposeAsync();
    }
  };
  return {
    ...api,
    ready: ready.promise,
    run: (signal, listen) => run((until) => serve(listen, until), signal),
  };
}

/** The gateway reads and writes through the API of this server. */
function functionCalls(
  { master, reachesPod = () => false }: ControlPlaneOptions,
  api: () => Pick<Api, 'clientOf'>,
): NonNullable<ApiOptions['functionCalls']> {
  const identity = identityOf(master);
  return {
    master: identity,
    reachesPod,
    async writeDemand(namespace, name, instances) {
      const functions = api().clientOf(systemUser('apiserver'), 'gateway').resource(functionResource);
      const body = { status: { demand: { [identity]: instances } } };
      await functions.patch(name, namespace, 'merge', body, 'status');
    },
  };
}

function workflowCalls(api: () => Pick<Api, 'clientOf'>): NonNullable<ApiOptions['workflowCalls']> {
  const runs = () => api().clientOf(systemUser('apiserver'), 'gateway').resource(workflowRunResource);
  return { create: (run) => runs().create(run), get: (namespace, name) => runs().get(name, namespace) };
}

/**
 * Returns the clients with which triggers call functions and watch objects, through the API of this server.
 */
function triggerOptions({ server, clientOf }: Pick<Api, 'server' | 'clientOf'>): TriggerOptions {
  const call = server.handlerFor(serviceAccountUser('kube-system', 'trigger-controller'));
  return {
    callFunction: functionCaller(call),
    clientOf: (namespace, account) => clientOf(serviceAccountUser(namespace, account), 'trigger-controller'),
  };
}

async function listenUntil(started: AsyncDisposableStack, listen: Listen): Promise<void> {
  const serving = new AbortController();
  const { closed } = await listen(serving.signal);
  started.defer(() => {
    serving.abort();
    return closed;
  });
}

function objectsOf({ master, serviceCidr, dnsAddress, clusterDomain }: ControlPlaneOptions): SystemObjects {
  const places = defaultPlaces(serviceCidr, master.port);
  return systemObjects({ ...places, dnsAddress: dnsAddress ?? places.dnsAddress, dnsDomain: clusterDomain });
}
