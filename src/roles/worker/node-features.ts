/**
 * The features of minik8s on a node, from its settings. The feature functions is always enabled on a node:
 * pods of other features use its image of this program.
 */
import { isSea } from 'node:sea';
import type { Transport } from '../../client/transport.ts';
import { BuildEngine } from '../../features/functions/agent/build-engine.ts';
import { nodeFunctions } from '../../features/functions/agent/functions.ts';
import type { FeatureName } from '../../features/names.ts';
import { watchedFolders } from '../../features/triggers/agent/watched-folders.ts';
import type { TriggerFlags } from '../../features/triggers/api/settings.ts';
import type { NodeFeature } from '../../kubelet/node/node-feature.ts';
import type { Settings } from '../settings/setting-table.ts';
import { installedExecutable, isService } from '../upgrade/running-service.ts';

import { type NodeImagesOptions, nodeImages } from './node-images.ts';
import { nodeUpgrades } from './node-upgrades.ts';
import { ownerOf } from './owner.ts';

/** Returns true if the node runs the feature. Without the setting, it runs all. */
export const runsFeature = ({ features }: Settings<'features'>, name: FeatureName): boolean =>
  features?.includes(name) ?? true;

export const nodeFeatures = (
  settings: Settings<'data-dir' | 'docker-socket' | 'features'> & TriggerFlags,
  transport: Transport,
  trust: Pick<NodeImagesOptions, 'identity' | 'authority'>,
): readonly NodeFeature[] => [
  nodeUpgrades({
    transport,
    ...installedExecutable,
    isService,
  }),
  nodeFunctions({
    builds: new BuildEngine({
      socketPath: settings['docker-socket'],
      owner: ownerOf(settings['data-dir']),
    }),
    environment: process.env,
    ...(isSea() && { program: process.execPath }),
  }),
  ...(runsFeature(settings, 'images')
    ? [nodeImages({ ...trust, transport, dockerSocket: settings['docker-socket'] })]
    : []),
  ...(runsFeature(settings, 'triggers') ? [watchedFolders(settings)] : []),
];
