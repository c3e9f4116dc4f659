/** The features of minik8s on a node, from its settings. */
import { isSea } from 'node:sea';
import { BuildEngine } from '../../features/functions/agent/build-engine.ts';
import { nodeFunctions } from '../../features/functions/agent/functions.ts';
import { watchedFolders } from '../../features/triggers/agent/watched-folders.ts';
import type { NodeFeature } from '../../kubelet/node/node-feature.ts';
import type { Settings } from '../settings/settings.ts';
import { ownerOf } from './owner.ts';

export const nodeFeatureSettings = ['data-dir', 'docker-socket', 'watch-folder'] as const;

export const nodeFeatures = (
  settings: Settings<(typeof nodeFeatureSettings)[number]>,
): readonly NodeFeature[] => [
  nodeFunctions({
    builds: new BuildEngine({
      socketPath: settings['docker-socket'],
      owner: ownerOf(settings['data-dir']),
    }),
    environment: process.env,
    ...(isSea() && { program: process.execPath }),
  }),
  watchedFolders(settings['watch-folder'] ?? []),
];
