/** Folders that triggers watch on a node. */
import type { NodeFeature } from '../../../kubelet/node/node-feature.ts';
import { FolderWatches } from './folder-watches.ts';

/** `allowed`: absolute paths of folders that may be watched, with everything in them. */
export const watchedFolders = (allowed: readonly string[]): NodeFeature => ({
  start(context) {
    const watches = new FolderWatches({ ...context, allowed });
    return { runAsMember: (signal) => watches.run(signal) };
  },
});
