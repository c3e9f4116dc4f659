import type { Pod } from '../../api/core/v1/pod.ts';
import { fieldsTreated, listPaths } from '../../api/core/v1/pod-fields.ts';
import type { Plugin, Rejection } from '../framework.ts';

/** The same for every node, so looked for once. */
const known = new WeakMap<Pod, readonly Rejection[]>();

/** A pod that says where it must or must not run, in a way that nothing here heeds, runs nowhere. */
export const supportedPlacement: Plugin = {
  name: 'SupportedPlacement',
  filter: ({ pod }) => {
    const found = known.get(pod) ?? rejections(pod);
    known.set(pod, found);
    return found;
  },
};

function rejections({ spec }: Pod): readonly Rejection[] {
  const paths = fieldsTreated(spec, 'unscheduled');
  if (paths.length === 0) return [];
  const text = `node(s) cannot be chosen by these fields, which minik8s does not support yet: ${listPaths(paths)}`;
  return [{ plugin: 'SupportedPlacement', text }];
}
