/**
 * Computes the ComponentStatuses: those of the scheduler and the controllers from the Lease of the leading
 * master, and the one of etcd.
 */
import { controllersLease, type Lease, leaseResource } from '../../api/coordination/v1/lease.ts';
import { componentStatusResource } from '../../api/core/v1/component-status.ts';
import type { ComponentStatus } from '../../api/core/v1/types.gen.ts';
import { type ResourceDefinition, storageKey } from '../../apimachinery/resource-definition.ts';
import type { MeasureQuery } from '../../apiserver/kind-behavior.ts';
import { selectionOf } from '../../apiserver/reads/selection.ts';
import { errorMessage } from '../../base/log.ts';
import type { KubeContext } from '../context.ts';

type Reader = Pick<KubeContext, 'cache' | 'clock' | 'store'>;

/** Upstream's names of the components. */
const components = ['scheduler', 'controller-manager', 'etcd-0'] as const;

/** A fault of a component; Unknown if its state could not be read. */
interface Fault {
  readonly status: 'False' | 'Unknown';
  readonly message: string;
}

const etcdPatienceMs = 2000;

export async function componentStatuses(
  server: Reader,
  { name, ...selectors }: MeasureQuery,
): Promise<ComponentStatus[]> {
  const definition = componentStatusResource as ResourceDefinition;
  const { matches } = selectionOf(definition, '', selectors);
  const wanted = components.filter(
    (component) =>
      (name === undefined || name === component) &&
      matches({ key: storageKey(definition, '', component), object: headOf(component) }),
  );
  const controllers = controllersFault(server);
  return await Promise.all(
    wanted.map(async (component) =>
      statusOf(component, component === 'etcd-0' ? await etcdFault(server) : controllers),
    ),
  );
}

/**
 * Returns the fault of scheduler and controllers. A single master has no Lease: the process that answers also
 * runs the scheduler and the controllers, so they have no fault.
 */
function controllersFault({ cache, clock }: Reader): Fault | undefined {
  const { namespace, name } = controllersLease;
  const found = cache.get(storageKey(leaseResource as ResourceDefinition, namespace, name));
  if (!found) return undefined;
  const { spec } = found.object as Lease;
  const late = clock.now() - Date.parse(spec.renewTime ?? '') - (spec.leaseDurationSeconds ?? 0) * 1000;
  if (late <= 0) return undefined;
  const held = spec.holderIdentity
    ? `${spec.holderIdentity}, which last renewed it at ${spec.renewTime}`
    : 'nobody';
  return { status: 'False', message: `no master leads: Lease ${namespace}/${name} is held by ${held}` };
}

async function etcdFault({ store, clock }: Reader): Promise<Fault | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<Fault>();
  const timer = clock.after(etcdPatienceMs, () =>
    resolve({ status: 'False', message: `etcd does not answer within ${etcdPatienceMs / 1000} s` }),
  );
  const asked = store.currentRevision().then(
    () => undefined,
    (error): Fault => ({ status: 'Unknown', message: errorMessage(error) }),
  );
  const fault = await Promise.race([asked, late]);
  timer.cancel();
  return fault;
}

const headOf = (name: string) =>
  ({ apiVersion: 'v1', kind: 'ComponentStatus', metadata: { name } }) as ComponentStatus;

/** Returns the object: a fault is its message; the reason for an unknown state is its error. */
function statusOf(name: string, fault: Fault | undefined): ComponentStatus {
  const detail = fault?.status === 'Unknown' ? { error: fault.message } : { message: fault?.message ?? 'ok' };
  return {
    ...headOf(name),
    conditions: [{ type: 'Healthy', status: fault?.status ?? 'True', ...detail }],
  };
}
