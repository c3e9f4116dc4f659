/** `ctl get`: shows objects, as the server's tables or in full, once or for as long as they change. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import type { Cluster } from '../cluster.ts';
import { kindName } from '../discovery.ts';
import { type Flags, type FlagTable, fileFlags, outputFlag, selectorFlag } from '../flags.ts';
import { evaluateTemplate } from '../jsonpath/evaluate.ts';
import { parsePath } from '../jsonpath/parse.ts';
import { recordsAt, textAt } from '../objects.ts';
import { listOf, type ObjectFormat, objectFormat, withoutManagedFields } from '../printers/object-format.ts';
import {
  type Column,
  headerOf,
  type Row,
  readTable,
  rowsOf,
  type ServerTable,
  type TableView,
  tableAccept,
} from '../printers/server-table.ts';
import { TableWriter } from '../printers/table-writer.ts';
import { type CollectionTarget, listPath, resolveTargets, type Target, targetPath } from '../targets.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { watchTargets } from './get-watch.ts';

const flagTable = {
  ...outputFlag,
  ...selectorFlag,
  ...fileFlags,
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'from all namespaces' },
  watch: { type: 'boolean', short: 'w', about: 'go on and show every change' },
  'watch-only': { type: 'boolean', about: 'show changes only' },
  'show-labels': { type: 'boolean', about: 'with a column of all labels' },
  'label-columns': { type: 'string', short: 'L', hint: 'KEYS', about: 'with columns of these labels' },
  'show-kind': { type: 'boolean', about: 'with the kind before each name' },
  'show-managed-fields': { type: 'boolean', about: 'with metadata.managedFields' },
  'no-headers': { type: 'boolean', about: 'without the line of headers' },
  'sort-by': { type: 'string', hint: 'JSONPATH', about: 'sorted by a field, such as .metadata.name' },
  'ignore-not-found': { type: 'boolean', about: 'what does not exist is no error' },
  raw: { type: 'string', hint: 'PATH', about: 'the answer to a path of the API as it is' },
} as const satisfies FlagTable;

export const get: Verb = {
  about: 'show objects: a table, or -o json|yaml|name|jsonpath=…',
  words: 'TYPE NAME',
  flags: flagTable,
  async run(context) {
    const { flags, io } = context;
    const format = objectFormat(flags.text('output'));
    const raw = flags.text('raw');
    if (raw !== undefined) {
      const { body } = await context.cluster().open({ method: 'GET', path: raw });
      const decoder = new TextDecoder();
      for await (const chunk of body) io.out(decoder.decode(chunk, { stream: true }));
      return;
    }
    const targets = await resolveTargets(context);
    if (flags.on('watch') || flags.on('watch-only')) {
      const [first] = targets;
      if (first) await watchTargets(context, targets, { table: viewOf(flags, first, false), format });
    } else if (format) await printObjects(context, targets, format);
    else await printTables(context, targets);
  },
};

const pageSize = 500;

/** All pages of a list, one after the other. */
async function* pages(
  cluster: Cluster,
  target: CollectionTarget,
  accept?: string,
  extra: Readonly<Record<string, string>> = {},
): AsyncGenerator<JsonObject> {
  let next = '';
  do {
    const page = await cluster.get(listPath(target, { ...extra, limit: pageSize, continue: next }), accept);
    yield page;
    next = textAt(page, 'metadata', 'continue');
  } while (next);
}

async function printObjects(
  context: VerbContext,
  targets: readonly Target[],
  format: ObjectFormat,
): Promise<void> {
  const { io, flags } = context;
  const cluster = context.cluster();
  const items: JsonObject[] = [];
  let missing = false;
  for (const target of targets) {
    try {
      if (target.name !== undefined) items.push(await cluster.get(targetPath(target)));
      else for await (const page of pages(cluster, target)) items.push(...itemsOf(page, target));
    } catch (error) {
      missing = true;
      reportMissing(context, error);
    }
  }
  const shown = flags.on('show-managed-fields') ? items : items.map(withoutManagedFields);
  const sortBy = flags.text('sort-by');
  if (sortBy) sortObjects(shown, sortBy, (object) => object);
  const [only] = shown;
  const single = targets.length === 1 && targets[0]?.name !== undefined;
  if (single && only) io.out(format(only));
  else if (!(missing && shown.length === 0)) io.out(format(listOf(shown)));
}

/** Items of a typed list need not say what they are. */
const itemsOf = (page: JsonObject, { resource: { group, version, kind } }: CollectionTarget) =>
  recordsAt(page, 'items').map((item) => ({
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    ...item,
  }));

function reportMissing(context: VerbContext, error: unknown): void {
  if (context.io.signal.aborted) throw error;
  if (isNotFound(error) && context.flags.on('ignore-not-found')) return;
  context.report(error);
}

function sortObjects<T>(list: T[], path: string, objectOf: (item: T) => JsonObject): void {
  const nodes = parsePath(path);
  const key = (item: T) => evaluateTemplate(nodes, objectOf(item));
  const collator = new Intl.Collator('en', { numeric: true });
  list.sort((a, b) => collator.compare(key(a), key(b)));
}

function viewOf(flags: Flags, target: Target, manyKinds: boolean): TableView {
  return {
    wide: flags.text('output') === 'wide',
    withNamespace: flags.on('all-namespaces') && target.resource.namespaced,
    showLabels: flags.on('show-labels'),
    labelColumns: flags.texts('label-columns').flatMap((keys) => keys.split(',')),
    kindPrefix: manyKinds || flags.on('show-kind') ? kindName(target.resource) : '',
  };
}

async function printTables(context: VerbContext, targets: readonly Target[]): Promise<void> {
  const { io, flags } = context;
  const cluster = context.cluster();
  const manyKinds = new Set(targets.map(({ resource }) => resource)).size > 1;
  let printed = 0;
  let failed = false;
  for (const group of consecutive(targets)) {
    const table = await readTables(context, cluster, group, () => {
      failed = true;
    });
    const [first] = group;
    if (!table || !first || table.rows.length === 0) continue;
    const view = viewOf(flags, first, manyKinds);
    const header = flags.on('no-headers') ? [] : [headerOf(table, view)];
    const separator = printed > 0 && header.length > 0 ? '\n' : '';
    io.out(separator + new TableWriter().format([...header, ...rowsOf(table, view)]));
    printed++;
  }
  if (printed === 0 && !failed && !flags.on('ignore-not-found'))
    io.err(`${nothingFound(flags, cluster, targets)}\n`);
}

function nothingFound(flags: Flags, cluster: Cluster, targets: readonly Target[]): string {
  const inNamespace = targets.some(({ resource }) => resource.namespaced) && !flags.on('all-namespaces');
  return inNamespace ? `No resources found in ${cluster.namespace} namespace.` : 'No resources found';
}

/** Targets of one kind that follow one another: they share a table. */
function consecutive(targets: readonly Target[]): Target[][] {
  const groups: Target[][] = [];
  for (const target of targets) {
    const last = groups.at(-1);
    if (last?.[0]?.resource === target.resource) last.push(target);
    else groups.push([target]);
  }
  return groups;
}

/** One table of all of them; what cannot be read is reported. */
async function readTables(
  context: VerbContext,
  cluster: Cluster,
  targets: readonly Target[],
  onFailure: () => void,
): Promise<ServerTable | undefined> {
  const { flags, io } = context;
  const sortBy = flags.text('sort-by');
  const extra: Record<string, string> = sortBy ? { includeObject: 'Object' } : {};
  let columns: readonly Column[] = [];
  const rows: Row[] = [];
  const add = (answer: JsonObject) => {
    const table = readTable(answer, io.clock.now(), columns);
    columns = table.columns;
    rows.push(...table.rows);
  };
  for (const target of targets) {
    try {
      if (target.name !== undefined) add(await cluster.get(targetPath(target), tableAccept));
      else for await (const page of pages(cluster, target, tableAccept, extra)) add(page);
    } catch (error) {
      onFailure();
      reportMissing(context, error);
    }
  }
  if (sortBy) sortObjects(rows, sortBy, ({ object }) => object);
  return columns.length > 0 ? { columns, rows } : undefined;
}
