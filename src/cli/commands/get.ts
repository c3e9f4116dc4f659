/** `ctl get`: prints objects, as the server's tables or in full, once or with every change. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { type Flags, type FlagTable, fileFlags, namesManifests, selectorFlag } from '../flags/flags.ts';
import { printFlags, tableOutput } from '../flags/output-flags.ts';
import { kindName } from '../objects/discovery.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { type CollectionTarget, type Target, targetPath } from '../objects/object-target.ts';
import { recordsAt } from '../objects/objects.ts';
import { chunkSizeFlag, chunkSizeOf, type PageOptions, pages } from '../objects/pages.ts';
import { resolveTargets } from '../objects/targets.ts';
import { printBody } from '../print-body.ts';
import { listOf, type ObjectFormat, printedFormat } from '../printers/object-format.ts';
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
import { sortBy } from '../printers/sort-by.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbContext } from '../verb.ts';
import { watchTargets } from './get-watch.ts';

const flagTable = {
  ...printFlags,
  output: tableOutput,
  ...selectorFlag,
  ...fileFlags,
  'field-selector': { type: 'string', hint: 'SELECTOR', about: 'only objects whose fields match' },
  'all-namespaces': { type: 'boolean', short: 'A', about: 'from all namespaces' },
  watch: { type: 'boolean', short: 'w', about: 'keep watching and show every change' },
  'watch-only': { type: 'boolean', about: 'watch, without listing the current objects first' },
  'output-watch-events': {
    type: 'boolean',
    about: 'with --watch: print events, the current objects as ADDED',
  },
  'show-labels': { type: 'boolean', about: 'show all labels in a column' },
  'label-columns': {
    type: 'string',
    short: 'L',
    hint: 'KEYS',
    about: 'show these labels in columns of their own',
  },
  'show-kind': { type: 'boolean', about: 'show the kind before each name' },
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
  'sort-by': { type: 'string', hint: 'JSONPATH', about: 'sort by a field, such as .metadata.name' },
  'ignore-not-found': { type: 'boolean', about: 'do not fail for an object that does not exist' },
  ...chunkSizeFlag,
  subresource: {
    type: 'string',
    hint: 'NAME',
    about: 'read this subresource of the objects, such as status or scale',
  },
  'server-print': {
    type: 'boolean',
    on: true,
    about: "print the server's columns; with --server-print=false only name and age",
  },
  raw: { type: 'string', hint: 'PATH', about: 'print the answer to this path of the API, unchanged' },
} as const satisfies FlagTable;

export const get: Verb = {
  about: 'display objects as a table, as JSON or YAML, or by a template',
  group: 'Basic Commands (Intermediate)',
  words: ['TYPE [NAME...]', 'TYPE/NAME...', 'TYPE,TYPE...', '-f FILE'],
  flags: flagTable,
  examples: [
    'ctl get pods # list the pods of the namespace',
    'ctl get pods -A -o wide # list the pods of all namespaces, with their nodes',
    'ctl get deployments,services -l app=web # list the objects of two types that have a label',
    'ctl get pod web -o yaml # print all fields of a pod',
    "ctl get pods -o jsonpath='{.items[*].metadata.name}' # print one field of each pod",
    'ctl get pods -w # keep printing changes until Ctrl-C',
  ],
  async run(context) {
    const raw = context.flags.text('raw');
    if (raw === undefined) await new Getter(context).get();
    else await printRaw(context, raw);
  },
};

async function printRaw({ flags, io, cluster }: VerbContext, path: string): Promise<void> {
  if (flags.words.length > 0 || namesManifests(flags))
    throw new UsageError('arguments may not be passed when --raw is specified');
  if (['watch', 'watch-only', 'selector', 'field-selector', 'sort-by'].some((flag) => flags.given(flag)))
    throw new UsageError(
      '--raw may not be specified with other flags that filter the server request or alter the output',
    );
  if (flags.given('output')) throw new UsageError('--raw and --output are mutually exclusive');
  if (!path.startsWith('/'))
    throw new UsageError(
      `--raw must be a path of the API such as /api/v1/nodes, got ${JSON.stringify(path)}`,
    );
  const { body } = await cluster().open({ method: 'GET', path });
  await printBody(io, body);
}

interface KindTable {
  readonly table: ServerTable;
  /** One of the table's targets. */
  readonly first: Target;
}

class Getter {
  readonly #context: VerbContext;
  readonly #format: ObjectFormat | undefined;
  readonly #subresource: string | undefined;
  readonly #paging: PageOptions;
  readonly #sortBy: string | undefined;
  /** True after an error was reported; "No resources found" is not printed then. */
  #failed = false;

  constructor(context: VerbContext) {
    const { flags } = context;
    const report = (error: unknown) => {
      this.#failed = true;
      context.report(error);
    };
    this.#context = { ...context, report };
    this.#format = printedFormat(flags);
    this.#subresource = flags.text('subresource');
    this.#sortBy = flags.text('sort-by');
    this.#paging = {
      limit: chunkSizeOf(flags),
      ...(!this.#format && {
        ...(flags.on('server-print') && { accept: tableAccept }),
        // The rows would have only the metadata of their objects without this query.
        ...(this.#sortBy && { query: { includeObject: 'Object' } }),
      }),
    };
  }

  async get(): Promise<void> {
    const { flags } = this.#context;
    const targets = await resolveTargets(this.#context);
    if (this.#subresource && targets.some(({ name }) => name === undefined))
      throw new UsageError('--subresource needs the names of the objects: TYPE NAME or TYPE/NAME');
    const watches = flags.on('watch') || flags.on('watch-only');
    if (flags.on('output-watch-events') && !watches)
      throw new UsageError('--output-watch-events option can only be used with --watch or --watch-only');
    if (watches) {
      const [first] = targets;
      const format = this.#format;
      const events = flags.on('output-watch-events');
      if (first)
        await watchTargets(this.#context, targets, { table: viewOf(flags, first, false), format, events });
    } else if (this.#format) await this.#printObjects(targets, this.#format);
    else await this.#printTables(targets);
  }

  async #printObjects(targets: readonly Target[], format: ObjectFormat): Promise<void> {
    const { io } = this.#context;
    const items: JsonObject[] = [];
    for (const target of targets)
      await this.#read(target, (answer) =>
        items.push(...(target.name === undefined ? typed(answer, target) : [answer])),
      );
    if (this.#sortBy) sortBy(items, this.#sortBy, (object) => object);
    const [only] = items;
    const single = targets.length === 1 && targets[0]?.name !== undefined;
    if (single && only) io.out(format(only));
    else if (!single && !(this.#failed && items.length === 0)) io.out(format(listOf(items)));
  }

  async #printTables(targets: readonly Target[]): Promise<void> {
    const { io, flags, palette } = this.#context;
    const tables = await this.#tablesOf(targets);
    const manyKinds = new Set(tables.map(({ first }) => first.resource)).size > 1;
    let printed = 0;
    for (const { table, first } of tables.filter(({ table: { rows } }) => rows.length > 0)) {
      const view = viewOf(flags, first, manyKinds);
      const headers = flags.on('no-headers') ? [] : headerOf(table, view);
      const separator = printed > 0 && headers.length > 0 ? '\n' : '';
      io.out(separator + new TableWriter(palette).format(rowsOf(table, view), headers));
      printed++;
    }
    if (printed === 0 && !this.#failed && !flags.on('ignore-not-found')) await this.#reportNothing(targets);
  }

  /** Resolves to one table for each group of consecutive targets of one kind. */
  async #tablesOf(targets: readonly Target[]): Promise<readonly KindTable[]> {
    const tables: KindTable[] = [];
    for (const group of consecutive(targets)) {
      const table = await this.#readTables(group);
      const [first] = group;
      if (table && first) tables.push({ table, first });
    }
    return tables;
  }

  async #reportNothing(targets: readonly Target[]): Promise<void> {
    const { flags, cluster, io } = this.#context;
    const inNamespace = targets.every(({ resource }) => resource.namespaced) && !flags.on('all-namespaces');
    if (inNamespace) await reportNothingIn(cluster(), io);
    else io.err('No resources found\n');
  }

  /** Resolves to one table of all targets; undefined if none could be read. */
  async #readTables(targets: readonly Target[]): Promise<ServerTable | undefined> {
    let columns: readonly Column[] = [];
    const rows: Row[] = [];
    for (const target of targets)
      await this.#read(target, (answer) => {
        const table = readTable(answer, this.#context.io.clock.now(), columns);
        columns = table.columns;
        rows.push(...table.rows);
      });
    if (this.#sortBy) sortBy(rows, this.#sortBy, ({ object }) => object);
    return columns.length > 0 ? { columns, rows } : undefined;
  }

  /** Passes the server's answers, one or several, to `take`; errors are reported. */
  async #read(target: Target, take: (answer: JsonObject) => void): Promise<void> {
    const { io, flags, cluster, report } = this.#context;
    try {
      if (target.name === undefined)
        for await (const page of pages(cluster(), target, this.#paging)) take(page);
      else take(await cluster().get(targetPath(target, this.#subresource), this.#paging.accept));
    } catch (error) {
      if (io.signal.aborted) throw error;
      if (!(isNotFound(error) && flags.on('ignore-not-found'))) report(error);
    }
  }
}

/** Adds apiVersion and kind to the items of a typed list, which may lack them. */
const typed = (page: JsonObject, { resource: { group, version, kind } }: CollectionTarget) =>
  recordsAt(page, 'items').map((item) => ({
    apiVersion: group ? `${group}/${version}` : version,
    kind,
    ...item,
  }));

function viewOf(flags: Flags, target: Target, manyKinds: boolean): TableView {
  return {
    wide: flags.text('output') === 'wide',
    withNamespace: flags.on('all-namespaces') && target.resource.namespaced,
    showLabels: flags.on('show-labels'),
    labelColumns: flags.texts('label-columns').flatMap((keys) => keys.split(',').filter(Boolean)),
    kindPrefix: manyKinds || flags.on('show-kind') ? kindName(target.resource) : '',
  };
}

/** Groups consecutive targets of one kind, which share a table. */
function consecutive(targets: readonly Target[]): Target[][] {
  const groups: Target[][] = [];
  for (const target of targets) {
    const last = groups.at(-1);
    if (last?.[0]?.resource === target.resource) last.push(target);
    else groups.push([target]);
  }
  return groups;
}
