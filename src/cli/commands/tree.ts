/** `ctl tree`: the owners of an object, and all that it owns, with their states. */
import { UsageError } from '../../base/usage-error.ts';
import { beginWork } from '../../terminal/live-lines.ts';
import type { FlagTable } from '../flags/flags.ts';
import { targetPath } from '../objects/object-target.ts';
import { metadataOf } from '../objects/objects.ts';
import { resolveObjects } from '../objects/targets.ts';
import { TableWriter } from '../printers/table-writer.ts';
import { readTree } from '../tree/read-tree.ts';
import { treeHeaders, treeOf, treeRow } from '../tree/tree-plan.ts';
import type { Verb } from '../verb.ts';

export const tree: Verb = {
  about: 'show the owners of an object and all that it owns, with their states',
  group: 'Troubleshooting and Debugging Commands',
  words: ['TYPE NAME', 'TYPE/NAME'],
  flags: {
    'no-headers': { type: 'boolean', about: 'do not print the header line' },
  } as const satisfies FlagTable,
  examples: [
    'ctl tree deployment web # see its ReplicaSets and pods',
    'ctl tree pod/web # see to which workload a pod belongs',
  ],
  async run(context) {
    const { flags, io, palette } = context;
    if (flags.words.length === 0) throw new UsageError('ctl tree: say which object, as TYPE/NAME');
    const cluster = context.cluster();
    const [target, ...more] = await resolveObjects(context);
    if (!target || more.length > 0) throw new UsageError('ctl tree shows one object: TYPE NAME or TYPE/NAME');
    const { uid } = metadataOf(await cluster.get(targetPath(target)));
    using _work = beginWork(io.progress, `objects of ${target.namespace || 'the cluster'}`);
    const namespace = target.resource.namespaced ? target.namespace : '';
    const { objects, unread } = await readTree(cluster, namespace, io.clock.now());
    const root = objects.find(({ object }) => metadataOf(object).uid === uid);
    if (!root) throw new Error(`you may not list ${target.resource.plural}, so their tree cannot be read`);
    const rows = treeOf(root, objects).map(treeRow);
    io.out(new TableWriter(palette).format(rows, flags.on('no-headers') ? [] : treeHeaders));
    if (unread.length > 0)
      io.err(`You may not list these kinds, so objects of them are not shown: ${unread.join(', ')}\n`);
  },
};
