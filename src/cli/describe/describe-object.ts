/** Reads what a description needs, and puts its lines together. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { StatusError } from '../../apimachinery/status-error.ts';
import { samplesWith } from '../../views/metric-samples.ts';
import type { Cluster } from '../connection/cluster.ts';
import { resourceOfKind } from '../objects/discovery.ts';
import { type ObjectTarget, targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { pages } from '../objects/pages.ts';
import { tableAccept } from '../printers/server-table.ts';
import { shown } from '../printers/table-writer.ts';
import type { CtlFeatures } from '../verb.ts';
import type { ObjectCauses } from '../why/object-cause.ts';
import { alignTabs } from './align.ts';
import type { Describer, Found, Need, SamplesNeed } from './describer.ts';
import { describerOf } from './describers.ts';
import { eventLines } from './events.ts';

interface Options {
  readonly cluster: Cluster;
  readonly showEvents: boolean;
  /** Objects per request of a large list. */
  readonly limit: number;
  readonly now: number;
  /** Finds the first cause of an object's problem; undefined if causes are not printed. */
  readonly causes: ObjectCauses | undefined;
  /** Describers of the features, by `KIND.GROUP`. */
  readonly describers: CtlFeatures['describers'];
}

/** Resolves to the description of an object; rejects with StatusError if the object itself cannot be read. */
export async function describeTarget(target: ObjectTarget, options: Options): Promise<string> {
  const describer = await describerOf(target.resource, options.describers);
  const object = await readObject(target, describer, options);
  const [related, events, cause] = await Promise.all([
    readNeeds(describer.needs?.(object) ?? {}, options),
    options.showEvents && !describer.withoutEvents ? readEvents(target, object, options) : undefined,
    options.causes?.lineOf(target, object, options.now),
  ]);
  const text = descriptionText(describer, object, { related, events, now: options.now });
  return cause === undefined ? text : `${text}Why: ${shown(cause)}\n`;
}

interface Material {
  readonly related: Readonly<Record<string, Found>>;
  /** Absent if events are not shown. */
  readonly events: Found | undefined;
  readonly now: number;
}

/** Returns the aligned text. Pure. */
export function descriptionText(describer: Describer, object: JsonObject, material: Material): string {
  const { related, events, now } = material;
  const found = (name: string) => (Object.hasOwn(related, name) ? (related[name] ?? nothing) : nothing);
  const lines = [...describer.lines(object, found, now)];
  if (events?.refused) lines.push(`Events:\t${events.refused}`);
  else if (events) lines.push(...eventLines(events.items, now));
  return `${alignTabs(shown(lines.join('\n')))}\n`;
}

const nothing: Found = { items: [] };

/** Reads the object in the version that its describer needs, if the server has it. */
async function readObject(
  target: ObjectTarget,
  { apiVersion }: Describer,
  { cluster }: Options,
): Promise<JsonObject> {
  const wanted = apiVersion && resourceOfKind(await cluster.resources(), apiVersion, target.resource.kind);
  return cluster.get(targetPath(wanted ? { ...target, resource: wanted } : target));
}

async function readNeeds(
  needs: Readonly<Record<string, Need | SamplesNeed>>,
  options: Options,
): Promise<Readonly<Record<string, Found>>> {
  const entries = Object.entries(needs).map(
    async ([name, need]) => [name, await reading(() => readNeed(need, options))] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** Resolves to the items; a rejection of the server becomes a text for the description. */
async function reading(read: () => Promise<readonly JsonObject[]>): Promise<Found> {
  try {
    return { items: await read() };
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return { items: [], refused: refusalOf(error) };
  }
}

const refusalOf = ({ status: { reason }, message }: StatusError): string =>
  reason === 'Forbidden' ? `<not authorized: ${message.replace(/^.*?: /, '')}>` : message;

async function readNeed(need: Need | SamplesNeed, options: Options): Promise<readonly JsonObject[]> {
  if ('metrics' in need) return readSamples(need, options);
  const { cluster, limit } = options;
  const resource = resourceOfKind(await cluster.resources(), need.apiVersion, need.kind);
  if (!resource) return [];
  const { namespace, name, labelSelector, fieldSelector } = need;
  if (name !== undefined)
    return [await cluster.get(targetPath({ resource, namespace, name }), need.asTable && tableAccept)];
  const items: JsonObject[] = [];
  for await (const page of pages(cluster, { resource, namespace, labelSelector, fieldSelector }, { limit }))
    items.push(...itemsAt(page));
  return items;
}

/** Maximum size of a page of metrics in characters; a larger one is not read to its end. */
const maxPage = 32 * 1024 * 1024;

async function readSamples(
  { metrics, labels }: SamplesNeed,
  { cluster }: Options,
): Promise<readonly JsonObject[]> {
  const { body } = await cluster.open({ method: 'GET', path: metrics, headers: { accept: 'text/plain' } });
  const decoder = new TextDecoder();
  let page = '';
  for await (const chunk of body) {
    page += decoder.decode(chunk, { stream: true });
    if (page.length > maxPage) break;
  }
  return samplesWith(page, labels);
}

const itemsAt = (page: JsonObject): JsonObject[] =>
  Array.isArray(page.items) ? (page.items as JsonObject[]) : [];

const mirrorAnnotation = 'kubernetes.io/config.mirror';

/** Reads the events about an object, without those about an earlier object of the same name. */
async function readEvents(target: ObjectTarget, object: JsonObject, options: Options): Promise<Found> {
  const { name, uid, annotations } = metadataOf(object);
  const { kind, namespaced } = target.resource;
  // A mirror pod's events are about the pod of the manifest, whose uid is its hash.
  const own = annotations[mirrorAnnotation] ?? uid;
  // Kubelets report events about their node with the node's name as uid.
  const uids = namespaced ? [own] : kind === 'Node' ? [uid, name] : [uid];
  const found = await Promise.all(
    uids.map((one) => {
      const fieldSelector = [
        `involvedObject.name=${name}`,
        ...(kind === 'Pod' ? [] : [`involvedObject.kind=${kind}`]),
        `involvedObject.uid=${one}`,
      ].join(',');
      const need = { apiVersion: 'v1', kind: 'Event', namespace: target.namespace, fieldSelector };
      return reading(() => readNeed(need, options));
    }),
  );
  const refused = found.find((one) => one.refused !== undefined)?.refused;
  const items = found.flatMap((one) => one.items);
  return refused === undefined ? { items } : { items, refused };
}
