/** Folders that triggers watch on a node. */
import type { NodeFeature } from '../../../kubelet/node/node-feature.ts';
import type { TriggerFlags } from '../api/settings.ts';
import { FolderWatches } from './folder-watches.ts';

export const watchedFolders = ({ 'watch-folder': allowed = [] }: TriggerFlags): NodeFeature => ({
  start(context) {
    const watches = new FolderWatches({ ...context, allowed });
    return { runAsMember: (signal) => watches.run(signal) };
  },
});
