/** `ctl get -w`: prints the current objects, then every change until the user stops the command. */
import { isRecord, type JsonObject, sortKeys } from '../../apimachinery/equality.ts';
import { goJson } from '../../apimachinery/go-json.ts';
import { isExpired } from '../../apimachinery/status-error.ts';
import type { Clock } from '../../base/clock.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { Cluster, WatchedEvent } from '../connection/cluster.ts';
import { RequestTimeoutError } from '../connection/connection.ts';
import { ReportedError } from '../errors.ts';
import { forEachReported } from '../for-each-reported.ts';
import {
  type CollectionTarget,
  collectionOf,
  listPath,
  type ObjectTarget,
  type Target,
  targetPath,
} from '../objects/object-target.ts';
import { itemsOf, metadataOf, recordsAt, textAt } from '../objects/objects.ts';
import { WatchPause } from '../objects/watch-pause.ts';
import { LiveTable } from '../printers/live-table.ts';
import type { ObjectFormat } from '../printers/object-format.ts';
import {
  type Column,
  headerOf,
  readTable,
  rowsOf,
  type TableView,
  tableAccept,
} from '../printers/server-table.ts';
import { TableWriter } from '../printers/table-writer.ts';
import { isPod, showPulls } from '../progress/pod-progress.ts';
import type { VerbContext } from '../verb.ts';

export interface WatchView {
  readonly table: TableView;
  /** Format that replaces the table. */
  readonly format: ObjectFormat | undefined;
  /** True to print the type of each event. */
  readonly events: boolean;
}

/** Watches the only target, or prints several objects and rejects. */
export async function watchTargets(
  context: VerbContext,
  targets: readonly Target[],
  view: WatchView,
): Promise<void> {
  const [target, ...more] = targets;
  if (target === undefined || more.some(({ resource }) => resource !== target.resource))
    throw new UsageError('you may only specify a single resource type');
  await (more.length > 0 ? printAndRefuse(context, targets, view) : watchTarget(context, target, view));
}

/** Watches a target; a watch that the server ends is started again from the last version. */
async function watchTarget(context: VerbContext, target: Target, view: WatchView): Promise<void> {
  const { io, flags } = context;
  const cluster = context.cluster();
  const collection = target.name === undefined ? target : collectionOf(target);
  using printer = liveTable(context, view) ?? new WatchPrinter(context, view, flags.on('no-headers'));
  const accept = view.format ? undefined : tableAccept;
  let take = flags.on('watch-only') ? learn : list;
  await using _pulls = isPod(target) ? showPulls(context, collection) : undefined;
  const pause = new WatchPause(io.clock);
  let isOn = !io.signal.aborted;
  while (isOn) {
    const answer = await cluster.get(listPath(collection), accept);
    // An object that does not exist is an error, as it is without --watch.
    if (target.name !== undefined && isEmpty(answer)) await cluster.get(targetPath(target));
    take(printer, answer);
    take = list;
    const version = textAt(answer, 'metadata', 'resourceVersion');
    const position = { accept, version, signal: io.signal, pause };
    const show = (object: JsonObject, type: WatchedEvent['type']) => printer.change(object, type);
    isOn = await mayContinue(() => followChanges(cluster, collection, position, show), io.signal);
  }
}

/**
 * Resolves to false if the user or --request-timeout ended the work: the timeout of a watch is no failure, as
 * in kubectl.
 */
async function mayContinue(work: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await work();
    return !signal.aborted;
  } catch (error) {
    if (error instanceof RequestTimeoutError) return false;
    throw error;
  }
}

type Printer = LiveTable | WatchPrinter;
const list = (printer: Printer, answer: JsonObject) => printer.list(answer);
const learn = (printer: Printer, answer: JsonObject) => printer.learn(answer);

/**
 * Returns a table in place; undefined for other formats, for events, without a terminal, and for the client
 * under the name kubectl, which prints a line for each change.
 */
function liveTable(
  { io, flags, palette }: VerbContext,
  { table, format, events }: WatchView,
): LiveTable | undefined {
  const { screen, clock, out } = io;
  const size = screen?.();
  const isPlain = io.calledAs === 'kubectl' || format !== undefined || events || flags.on('watch-only');
  if (!size || isPlain) return undefined;
  const noHeaders = flags.on('no-headers');
  return new LiveTable({
    ...{ write: out, size: () => screen?.() ?? size, clock, palette },
    ...{ view: table, noHeaders },
  });
}

/**
 * Prints several objects as they are now, and rejects: only one object or all of a type can be watched. As in
 * kubectl, nothing is printed if one of them does not exist.
 */
async function printAndRefuse(
  context: VerbContext,
  targets: readonly Target[],
  view: WatchView,
): Promise<never> {
  const { flags, cluster } = context;
  const accept = view.format ? undefined : tableAccept;
  const answers: JsonObject[] = [];
  const named = flags.on('watch-only') ? [] : targets.filter(isObject);
  let failed = false;
  await forEachReported(
    context,
    named,
    async (target) => void answers.push(await cluster().get(targetPath(target), accept)),
    (error) => {
      failed = true;
      return error;
    },
  );
  if (failed) throw new ReportedError();
  const printer = new WatchPrinter(context, view, flags.on('no-headers'));
  for (const answer of answers) printer.list(answer);
  throw new Error('you may only watch a single resource or type of resource at a time');
}

const isObject = (target: Target): target is ObjectTarget => target.name !== undefined;

interface Position {
  readonly accept: string | undefined;
  readonly version: string;
  readonly signal: AbortSignal;
  readonly pause: WatchPause;
}

/** Watches until the server no longer has the changes after the last event. */
export async function followChanges(
  cluster: Cluster,
  collection: CollectionTarget,
  { accept, version, signal, pause }: Position,
  show: (object: JsonObject, type: WatchedEvent['type']) => void,
): Promise<void> {
  let resourceVersion = version;
  try {
    while (!signal.aborted) {
      pause.begin();
      const path = listPath(collection, { watch: 1, allowWatchBookmarks: true, resourceVersion });
      for await (const { type, object } of cluster.watch(path, { accept })) {
        pause.event();
        resourceVersion = versionOf(object) || resourceVersion;
        if (type !== 'BOOKMARK') show(object, type);
      }
      await pause.end(signal);
    }
  } catch (error) {
    if (!isExpired(error)) throw error;
    await pause.end(signal);
  }
}

const isEmpty = (list: JsonObject) =>
  recordsAt(list, 'items').length === 0 && recordsAt(list, 'rows').length === 0;

/** Returns the resourceVersion of an object, or of the object in a Table's row. */
function versionOf(object: JsonObject): string {
  const [row] = recordsAt(object, 'rows');
  const inner = isRecord(row?.object) ? row.object : object;
  return metadataOf(inner).resourceVersion;
}

class WatchPrinter implements Disposable {
  readonly #out: (text: string) => void;
  readonly #clock: Clock;
  readonly #view: TableView;
  readonly #format: ObjectFormat | undefined;
  readonly #events: boolean;
  readonly #output: string | undefined;
  readonly #writer: TableWriter;
  #columns: readonly Column[] = [];
  #headerDue: boolean;

  constructor({ io, flags, palette }: VerbContext, { table, format, events }: WatchView, noHeaders: boolean) {
    this.#events = events;
    this.#output = flags.text('output');
    this.#out = io.out;
    this.#clock = io.clock;
    this.#writer = new TableWriter(palette);
    this.#view = table;
    this.#headerDue = !noHeaders;
    this.#format = format;
  }

  /** Stores the columns of a list that is not printed. */
  learn(answer: JsonObject): void {
    if (!this.#format) this.#columns = readTable(answer, this.#clock.now()).columns;
  }

  [Symbol.dispose](): void {}

  /** Prints the objects of a list as they are added. */
  list(answer: JsonObject): void {
    this.change(answer, 'ADDED');
  }

  change(answer: JsonObject, type: WatchedEvent['type']): void {
    if (this.#format) this.#printObjects(this.#format, answer, type);
    else this.#printTable(answer, this.#clock.now(), type);
  }

  #printTable(answer: JsonObject, now: number, type: WatchedEvent['type']): void {
    const table = readTable(answer, now, this.#columns);
    this.#columns = table.columns;
    if (table.rows.length === 0) return;
    const headers = this.#headerDue ? headerOf(table, this.#view) : [];
    this.#headerDue = false;
    const rows = rowsOf(table, this.#view);
    const typed = this.#events ? rows.map((row) => [type.padEnd(8), ...row]) : rows;
    const withType = this.#events && headers.length > 0 ? ['EVENT', ...headers] : headers;
    this.#out(this.#writer.format(typed, withType));
  }

  #printObjects(format: ObjectFormat, answer: JsonObject, type: WatchedEvent['type']): void {
    for (const object of itemsOf(answer)) this.#out(this.#text(format, object, type));
  }

  /** Returns the text of an object, or of its event: JSON of an event is one line. */
  #text(format: ObjectFormat, object: JsonObject, type: WatchedEvent['type']): string {
    if (!this.#events || this.#output === 'name') return format(object);
    if (this.#output === 'json') return `${goJson({ type, object: sortKeys(object) })}\n`;
    return format({ type, object });
  }
}
