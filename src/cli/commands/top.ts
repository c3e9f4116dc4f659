/** `ctl top`: shows the current usage of nodes and pods. */

import { goExactDuration } from '../../base/time.ts';
import { UsageError } from '../../base/usage-error.ts';
import { sumOf } from '../../views/usage.ts';
import type { FlagTable } from '../flags/flags.ts';
import { reportNothingIn } from '../objects/nothing-found.ts';
import { itemsOf, metadataOf } from '../objects/objects.ts';
import { TableWriter } from '../printers/table-writer.ts';
import type { Verb, VerbContext, VerbGroup } from '../verb.ts';
import { showLive, type TopLine, type TopReading } from './top-live.ts';
import {
  cpuText,
  memoryText,
  nodeRows,
  podRows,
  shares,
  sorted,
  sorts,
  swapCells,
  swapText,
  type TopRow,
} from './top-rows.ts';

const common = {
  selector: { type: 'string', short: 'l', hint: 'LABELS', about: 'only objects with these labels' },
  'sort-by': {
    type: 'string',
    hint: 'cpu|memory',
    about: 'sort by usage, the largest first',
    usual: 'by name',
  },
  watch: {
    type: 'boolean',
    short: 'w',
    about: 'read again every 5 s; on a terminal in place, with a graph for each row',
  },
  'no-headers': { type: 'boolean', about: 'do not print the header line' },
  'show-swap': { type: 'boolean', about: 'show also the use of swap' },
  'use-protocol-buffers': {
    type: 'boolean',
    on: true,
    about: 'no effect, for scripts of kubectl: metrics are read as JSON either way',
  },
} as const satisfies FlagTable;

const nodeFlags = {
  ...common,
  'show-capacity': {
    type: 'boolean',
    about: 'show percentages of the capacity, not of the allocatable resources',
  },
} as const satisfies FlagTable;

const podFlags = {
  ...common,
  'all-namespaces': { type: 'boolean', short: 'A', about: 'pods of all namespaces' },
  'field-selector': {
    type: 'string',
    hint: 'FIELDS',
    about: 'only pods with these fields, such as spec.nodeName=n1',
  },
  containers: { type: 'boolean', about: 'show the usage of each container' },
  sum: { type: 'boolean', about: 'print the sum of all pods' },
} as const satisfies FlagTable;

const root = '/apis/metrics.k8s.io/v1beta1';

const node: Verb = {
  about: 'show CPU and memory usage of nodes, and its share of their allocatable resources',
  words: '[NODE]',
  flags: nodeFlags,
  examples: [
    'ctl top node # show the usage of all nodes',
    'ctl top node --watch # watch the usage, with graphs on a terminal',
    'ctl top node --sort-by=memory # show the node that uses the most memory first',
    'ctl top node --show-capacity # in percent of the capacity of the nodes',
  ],
  run: (context) => printTop(context, () => readNodes(context)),
};

async function readNodes(context: VerbContext): Promise<TopReading> {
  const { flags } = context;
  const metrics = await read(context, `${root}/nodes`);
  const nodes = new Map(
    itemsOf(await context.cluster().get('/api/v1/nodes')).map((one) => [metadataOf(one).name, one]),
  );
  const showsSwap = flags.on('show-swap');
  const of = flags.on('show-capacity') ? 'capacity' : 'allocatable';
  const lines = sorted(nodeRows(metrics), flags.oneOf('sort-by', sorts)).map((row) => {
    const [cpu, memory] = shares(row.use, nodes.get(row.name) ?? {}, of);
    const cells = [row.name, cpuText(row.use), cpu, memoryText(row.use), memory];
    return { row, cells: showsSwap ? [...cells, ...swapCells(row.use, nodes.get(row.name) ?? {})] : cells };
  });
  if (lines.length === 0) throw new Error('metrics not available yet');
  const header = ['NAME', 'CPU(cores)', 'CPU(%)', 'MEMORY(bytes)', 'MEMORY(%)'];
  return { header: showsSwap ? [...header, 'SWAP(bytes)', 'SWAP(%)'] : header, lines };
}

const pod: Verb = {
  about: 'show CPU and memory usage of pods',
  words: '[POD]',
  flags: podFlags,
  examples: [
    'ctl top pod # show the usage of the pods of the namespace',
    'ctl top pod -A --sort-by=cpu # show the pods of all namespaces, the busiest first',
    'ctl top pod web --containers # show each container',
  ],
  run: (context) =>
    printTop(
      context,
      () => readPods(context),
      () => requireNoPods(context),
    ),
};

/** Age in milliseconds after which a pod has metrics, as in kubectl. */
const measuredAfterMs = 120_000;

/** Throws if there are pods although none has metrics (upstream: verifyEmptyMetrics). */
async function requireNoPods(context: VerbContext): Promise<void> {
  const { flags, io, cluster } = context;
  const { namespace } = cluster();
  const path = flags.on('all-namespaces')
    ? '/api/v1/pods'
    : `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
  const pods = await read(context, path);
  for (const pod of pods) {
    const { namespace: own, name, creationTimestamp = '' } = metadataOf(pod);
    const age = io.clock.now() - Date.parse(creationTimestamp);
    if (age > measuredAfterMs)
      throw new Error(`Metrics not available for pod ${own}/${name}, age: ${goExactDuration(age)}`);
  }
  if (pods.length > 0) throw new Error('metrics not available yet');
}

async function readPods(context: VerbContext): Promise<TopReading> {
  const { flags } = context;
  const everywhere = flags.on('all-namespaces');
  const { namespace } = context.cluster();
  const path = everywhere ? `${root}/pods` : `${root}/namespaces/${encodeURIComponent(namespace)}/pods`;
  const [byContainer, showsSwap] = [flags.on('containers'), flags.on('show-swap')];
  const found = podRows(await read(context, path), byContainer);
  const lineOf = (row: TopRow): TopLine => ({
    row,
    cells: [
      ...(everywhere ? [row.namespace] : []),
      ...(byContainer ? [row.pod] : []),
      ...[row.name, cpuText(row.use), memoryText(row.use)],
      ...(showsSwap ? [swapText(row.use)] : []),
    ],
  });
  const lines = sorted(found, flags.oneOf('sort-by', sorts)).map(lineOf);
  const total = lineOf({ namespace: '', pod: '', name: '', use: sumOf(found.map(({ use }) => use)) });
  const rule = {
    ...total,
    cells: total.cells.map((_, index, all) => (index < all.length - 2 ? '' : '________')),
  };
  const header = [
    ...(everywhere ? ['NAMESPACE'] : []),
    ...(byContainer ? ['POD', 'NAME'] : ['NAME']),
    ...['CPU(cores)', 'MEMORY(bytes)'],
    ...(showsSwap ? ['SWAP(bytes)'] : []),
  ];
  return { header, lines: flags.on('sum') && found.length > 0 ? [...lines, rule, total] : lines };
}

/**
 * Prints a reading, or readings until the user stops the command. `verifyEmpty` throws if a reading without
 * rows is an error.
 */
async function printTop(
  context: VerbContext,
  reading: () => Promise<TopReading>,
  verifyEmpty?: () => Promise<void>,
): Promise<void> {
  const { flags, io, palette } = context;
  if (flags.on('watch')) return showLive(context, reading);
  const { header, lines } = await reading();
  if (lines.length === 0) await verifyEmpty?.();
  if (lines.length > 0)
    io.out(
      new TableWriter(palette).format(
        lines.map(({ cells }) => cells),
        flags.on('no-headers') ? [] : header,
      ),
    );
  else if (flags.on('all-namespaces')) io.err('No resources found\n');
  else await reportNothingIn(context.cluster(), io);
}

/** Reads one object by its name, or the selected objects. */
async function read({ flags, cluster }: VerbContext, path: string) {
  const [name, ...more] = flags.words;
  const selectors = ['selector', 'field-selector'] as const;
  if (more.length > 0) throw new UsageError('ctl top takes one name');
  const query = selectors.flatMap((flag) => {
    const value = flags.given(flag) ? flags.text(flag) : undefined;
    return value === undefined ? [] : [[flag === 'selector' ? 'labelSelector' : 'fieldSelector', value]];
  });
  if (name === undefined)
    return itemsOf(await cluster().get(query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path));
  if (query.length > 0) throw new UsageError('a name cannot be combined with a selector');
  return [await cluster().get(`${path}/${encodeURIComponent(name)}`)];
}

export const top: VerbGroup = {
  about: 'show CPU and memory usage of nodes or pods',
  group: 'Cluster Management Commands',
  examples: ['ctl top node # show the usage of all nodes', 'ctl top pod -A # show the usage of all pods'],
  verbs: { node, nodes: node, no: node, pod, pods: pod, po: pod },
};
