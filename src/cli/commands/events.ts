/** `ctl events`: lists events, the latest last; filters by object and type, or watches. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { apiVersionOf } from '../../apimachinery/resource-definition.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster } from '../connection/cluster.ts';
import type { FlagTable } from '../flags/flags.ts';
import { printFlags, tableOutput } from '../flags/output-flags.ts';
import { findResource } from '../objects/discovery.ts';
import type { CollectionTarget } from '../objects/object-target.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import { chunkSizeFlag, chunkSizeOf, pages } from '../objects/pages.ts';
import { WatchPause } from '../objects/watch-pause.ts';
import { eventHeaders, eventRow, eventTime } from '../printers/event-rows.ts';
import { printedFormat } from '../printers/object-format.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { followChanges } from './get-watch.ts';

const flagTable = {
  'all-namespaces': { type: 'boolean', short: 'A', about: 'from all namespaces' },
  for: { type: 'string', hint: 'TYPE/NAME', about: 'only events about this object' },
  types: { type: 'string', hint: 'TYPES', about: 'only events of these types: Normal, Warning' },
  watch: { type: 'boolean', short: 'w', about: 'keep watching and show every new event' },
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
  ...printFlags,
  output: tableOutput,
  ...chunkSizeFlag,
} as const satisfies FlagTable;

export const events: Verb = {
  about: 'list events, the latest last',
  group: 'Troubleshooting and Debugging Commands',
  flags: flagTable,
  examples: [
    'ctl events # list the events of the namespace',
    'ctl events -A --types=Warning # list the warnings of all namespaces',
    'ctl events --for pod/web --watch # follow the events of one object',
  ],
  async run(context) {
    const { flags, io } = context;
    if (flags.words.length > 0)
      throw new UsageError('ctl events takes no arguments; select an object with --for TYPE/NAME');
    const isWanted = typesOf(flags.texts('types'));
    const print = printer(context);
    const cluster = context.cluster();
    const collection = await collectionOf(context, cluster);
    const { found, version } = await listEvents(cluster, collection, chunkSizeOf(flags), isWanted);
    if (!flags.on('watch')) {
      if (found.length === 0)
        io.err(nothingFound(flags.on('all-namespaces') ? undefined : cluster.namespace));
      else print(found.toSorted((a, b) => eventTime(a) - eventTime(b)));
      return;
    }
    for (const event of found) print(event);
    // A deleted event has only expired. The command ends if the server no longer has the changes since the
    // last event, as in kubectl.
    await followChanges(
      cluster,
      collection,
      { accept: undefined, version, signal: io.signal, pause: new WatchPause(io.clock) },
      (event, type) => {
        if (type !== 'DELETED' && isWanted(event)) print(event);
      },
    );
  },
};

/** Resolves to the matching events of a collection, and the resourceVersion of the list. */
async function listEvents(
  cluster: Cluster,
  collection: CollectionTarget,
  limit: number,
  isWanted: (event: JsonObject) => boolean,
): Promise<{ readonly found: readonly JsonObject[]; readonly version: string }> {
  const found: JsonObject[] = [];
  let version = '';
  for await (const page of pages(cluster, collection, { limit })) {
    for (const event of recordsAt(page, 'items'))
      if (isWanted(event)) found.push({ ...event, apiVersion: 'v1', kind: 'Event' });
    version = textAt(page, 'metadata', 'resourceVersion');
  }
  return { found, version };
}

const nothingFound = (namespace: string | undefined): string =>
  namespace === undefined ? 'No events found.\n' : `No events found in ${namespace} namespace.\n`;

/** Returns a filter; without types all events match. Throws UsageError for an unknown type. */
function typesOf(given: readonly string[]): (event: JsonObject) => boolean {
  const wanted = given
    .flatMap((text) => (text === '' ? [] : text.split(',')))
    .map((type) => type.toLowerCase());
  if (wanted.some((type) => type !== 'normal' && type !== 'warning'))
    throw new UsageError('valid --types are Normal or Warning');
  return (event) => wanted.length === 0 || wanted.includes(textAt(event, 'type').toLowerCase());
}

async function collectionOf({ flags }: VerbContext, cluster: Cluster): Promise<CollectionTarget> {
  const resources = await cluster.resources();
  const about = flags.text('for');
  const namespace = flags.on('all-namespaces') ? '' : cluster.namespace;
  const all = { resource: findResource(resources, 'events'), namespace, labelSelector: undefined };
  if (about === undefined || about === '') return { ...all, fieldSelector: undefined };
  const [type = '', name, ...more] = about.split('/');
  if (name === undefined) throw new UsageError('--for must be in resource/name form');
  if (more.length > 0)
    throw new UsageError('arguments in resource/name form may not have more than one slash');
  const resource = findResource(resources, type);
  const fieldSelector = Object.entries({
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    name,
  }).map(([field, value]) => `involvedObject.${field}=${value}`);
  return { ...all, fieldSelector: fieldSelector.join(',') };
}

/** Returns a function that prints one event, or a list of events. */
function printer({ flags, io, palette }: VerbContext): (events: JsonObject | readonly JsonObject[]) => void {
  const format = printedFormat(flags);
  if (format)
    return (given) =>
      io.out(
        format(
          isList(given) ? { apiVersion: 'v1', kind: 'EventList', metadata: {}, items: [...given] } : given,
        ),
      );
  const everywhere = flags.on('all-namespaces');
  const table = new TableWriter(palette);
  let headers = flags.on('no-headers') ? [] : [...(everywhere ? ['NAMESPACE'] : []), ...eventHeaders];
  return (given) => {
    const rows = [given]
      .flat()
      .map((event) => [
        ...(everywhere ? [metadataOf(event).namespace] : []),
        ...eventRow(event, io.clock.now()),
      ]);
    io.out(table.format(rows, headers));
    headers = [];
  };
}

const isList = (given: JsonObject | readonly JsonObject[]): given is readonly JsonObject[] =>
  Array.isArray(given);
