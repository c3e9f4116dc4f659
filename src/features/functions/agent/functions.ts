/** Functions on a node: images of their versions, builds, and instances that wait for a function. */

import type { ImageProvider } from '../../../kubelet/images/image-provider.ts';
import type { NodeFeature, NodeFeatureContext, NodePart } from '../../../kubelet/node/node-feature.ts';
import type { PodObserver } from '../../../kubelet/runtime/pod-observer.ts';
import { readAsset } from '../../../os/assets.ts';
import { isFunctionPod } from '../api/function-instance.ts';
import type { BuildEngine } from './build-engine.ts';
import { FunctionBuilder } from './function-builder.ts';
import { FunctionChores } from './function-chores.ts';
import { FunctionImages } from './function-images.ts';
import { OwnImage } from './own-image.ts';
import { WarmInstances } from './warm-instances.ts';

export interface NodeFunctionsSettings {
  /** Undefined where the runtime cannot build. */
  readonly builds?: BuildEngine | undefined;
  /**
   * Environment of the agent, which determines how installations reach the package indexes of pip and npm;
   * default empty.
   */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Path of the single-file program; undefined where this process does not run from it. */
  readonly program?: string | undefined;
}

/** Part of functions in one run of the agent. */
export interface FunctionsPart extends NodePart {
  readonly imageProviders: readonly ImageProvider[];
  /** Undefined where the node cannot build. */
  readonly chores?: FunctionChores;
}

export interface NodeFunctions extends NodeFeature {
  start(context: NodeFeatureContext): FunctionsPart;
}

export const nodeFunctions = ({
  builds: engine,
  environment = {},
  program,
}: NodeFunctionsSettings): NodeFunctions => ({
  isClosed: isFunctionPod,
  start(context) {
    const ownImage = new OwnImage({ ...context, engine, program });
    if (!engine)
      return { imageProviders: [ownImage, new FunctionImages({ ...context, builder: undefined })] };
    const builder = new FunctionBuilder({ client: context.client, engine, environment, readAsset });
    const chores = new FunctionChores({ ...context, engine });
    const warm = new WarmInstances({ ...context, engine });
    const images = new FunctionImages({ ...context, builder, ready: chores.ready });
    return {
      imageProviders: [ownImage, images],
      podObserver: warmObserver(warm),
      chores,
      podGone: () => chores.podGone(),
      run: (signal) => chores.run(signal),
    };
  },
});

const warmObserver = (warm: WarmInstances): PodObserver => ({
  async see(pod, observed) {
    const message = await warm.see(pod, observed);
    return message === undefined ? undefined : { reason: 'FunctionRefused', message };
  },
  forget: (uid) => warm.forget(uid),
});
