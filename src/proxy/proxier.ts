/**
 * Keeps the kernel's service rules in step with Services and EndpointSlices. Informer events only mark services
 * as changed; a round reads what each is now, and applies all differences in one transaction while new marks
 * gather for the next. The kernel is never listed: after a failed transaction the whole table is written again.
 */
import { type ClusterPlaces, ExternalPorts } from '../api/core/v1/external-ports.ts';
import { nodeResource } from '../api/core/v1/node.ts';
import { type Service, serviceResource } from '../api/core/v1/service.ts';
import { apiService } from '../api/core/v1/system-objects.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
  lastChangeAnnotation,
  serviceNameLabel,
} from '../api/discovery/v1/endpoint-slice.ts';
import { type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import { aborted, unlessAborted } from '../base/abort.ts';
import { Backoff } from '../base/backoff.ts';
import { type Clock, sleep } from '../base/clock.ts';
import { deleteFlows } from '../base/conntrack.ts';
import type { Exec } from '../base/exec.ts';
import type { Family } from '../base/exposition.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import type { InformerFactory, Lister } from '../client/informer.ts';
import { ElementTable } from './element-table.ts';
import { elementsOf } from './elements.ts';
import { ProxyCounts } from './proxy-counts.ts';
import { chainsOf, renderDifference, renderTable, table } from './render.ts';
import { serviceRules } from './service-map.ts';
import { staleFlows } from './stale-flows.ts';

/** Traffic to an address of `serviceCIDR` that belongs to no service is refused at once. */
export interface ProxierOptions extends Required<ClusterPlaces> {
  /** Not started yet: the proxier asks for the informers it reads. */
  readonly informers: InformerFactory;
  /**
   * Where the metadata of Nodes is read. Started by the caller, also later than `run`, which waits for it.
   */
  readonly nodeInformers: InformerFactory;
  readonly exec: Exec;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Proxier {
  /** Runs until the signal aborts; start it when the informers have synced. Leaves the rules in the kernel. */
  run(signal: AbortSignal): Promise<void>;
  /** How it does, under kube-proxy's names. */
  families(): readonly Family[];
}

const bySlice = 'service';
/** The Service whose endpoints are the masters. */
const mastersKey = `${apiService.namespace}/${apiService.name}`;
const retry = { initialMs: 100, maxMs: 30_000 };

/** The key of the service a slice belongs to; none when it says none. */
function serviceKeysOf(slice: EndpointSlice): readonly ObjectKey[] {
  const name = slice.metadata.labels?.[serviceNameLabel];
  return name ? [`${slice.metadata.namespace}/${name}`] : [];
}

const mastersIn = (slices: Lister<EndpointSlice>): readonly string[] =>
  slices
    .byIndex(bySlice, mastersKey)
    .flatMap(({ endpoints }) => endpoints.flatMap(({ addresses }) => addresses))
    .sort();

/**
 * When that has happened for which a slice is what it is, in milliseconds since the epoch; undefined where it does not say,
 * or says the same as before.
 */
function triggerOf([now, before]: readonly EndpointSlice[]): number | undefined {
  const told = now?.metadata.annotations?.[lastChangeAnnotation];
  if (told === undefined || told === before?.metadata.annotations?.[lastChangeAnnotation]) return undefined;
  const at = Date.parse(told);
  return Number.isNaN(at) ? undefined : at;
}

export function createProxier(options: ProxierOptions): Proxier {
  const { informers, exec, clock, log } = options;
  const services = informers.informerFor(serviceResource);
  const slices = informers.informerFor(endpointSliceResource);
  slices.addIndex(bySlice, serviceKeysOf);

  const elements = new ElementTable();
  const changed = new Set<ObjectKey>();
  let wake = () => {};
  const mark = (key: ObjectKey) => {
    changed.add(key);
    wake();
  };
  const counts = new ProxyCounts(clock);
  /** What was there before the first round was not changed meanwhile. */
  let isStarted = false;
  const external = new ExternalPorts(options);
  const markAll = (keys: Iterable<ObjectKey>) => {
    for (const key of keys) mark(key);
  };
  const serviceChanged = (service: Service) => {
    counts.changed('service');
    const key = objectKey(service);
    markAll(external.setService(key, services.lister.get(key)));
    mark(key);
  };
  const slicesChanged = (...all: readonly EndpointSlice[]) => {
    counts.changed('endpoint', isStarted ? triggerOf(all) : undefined);
    const keys = all.flatMap(serviceKeysOf);
    keys.forEach(mark);
    if (keys.includes(mastersKey)) markAll(external.setMasters(mastersIn(slices.lister)));
  };
  services.addEventHandler({ onAdd: serviceChanged, onUpdate: serviceChanged, onDelete: serviceChanged });
  slices.addEventHandler({
    onAdd: (slice) => slicesChanged(slice),
    onUpdate: (slice, old) => slicesChanged(slice, old),
    onDelete: (slice) => slicesChanged(slice),
  });

  const nodes = options.nodeInformers.informerFor<KubeObject>({ ...nodeResource, part: 'metadata' });
  const nodeChanged = ({ metadata: { name } }: KubeObject) =>
    markAll(external.setNode(name, nodes.lister.get(name)));
  nodes.addEventHandler({ onAdd: nodeChanged, onUpdate: nodeChanged, onDelete: nodeChanged });

  /** The chains in the kernel; undefined when the table must be written whole. */
  let chains: ReadonlySet<string> | undefined;

  function readChanged(): void {
    for (const key of changed) {
      const service = services.lister.get(key);
      const rules = service
        ? serviceRules(service, slices.lister.byIndex(bySlice, key), options.nodeName, (...port) =>
            external.isServed(key, ...port),
          )
        : [];
      elements.replace(key, elementsOf(rules));
    }
    changed.clear();
  }

  async function apply(): Promise<void> {
    const difference = elements.difference();
    const added = chains ? difference.added : elements.all();
    const script = chains ? renderDifference(chains, difference) : renderTable(options.serviceCIDR, added);
    if (script) await exec('nft', ['-f', '-'], { input: script });
    chains = new Set([...(chains ?? []), ...chainsOf(added)]);
    elements.commit();
    await deleteFlows(exec, log, 'a removed endpoint', staleFlows(difference));
  }

  return {
    families: () => counts.families(),
    async run(signal) {
      // An address of a node must not go to a Service for a moment.
      try {
        await unlessAborted(signal, nodes.synced);
      } catch {
        return;
      }
      const backoff = new Backoff(retry);
      const stopped = aborted(signal);
      while (!signal.aborted) {
        readChanged();
        try {
          await counts.sync(apply);
          isStarted = true;
          backoff.reset();
        } catch (error) {
          chains = undefined;
          const delay = backoff.next();
          log.error('the nft rules of Services were not applied; writing all of them again', {
            error: errorMessage(error),
            inMs: delay,
          });
          // Rejects only when the signal aborts, which ends the loop.
          await sleep(clock, delay, signal).catch(() => undefined);
          continue;
        }
        if (changed.size > 0) continue;
        await Promise.race([
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
          stopped,
        ]);
      }
    },
  };
}

/** Removes everything the proxy made in the kernel; fine when there is nothing. */
export async function removeServiceRules(exec: Exec): Promise<void> {
  await exec('nft', ['-f', '-'], { input: `add table ${table}\ndelete table ${table}\n` });
}
