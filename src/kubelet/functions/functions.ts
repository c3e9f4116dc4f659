/** Assembles the node's part of functions. */
import { readAsset } from '../../base/assets.ts';
import type { Exec } from '../../base/exec.ts';
import type { ImageProvider } from '../images/image-provider.ts';
import type { PodObserver } from '../runtime/pod-observer.ts';
import type { BuildEngine } from './build-engine.ts';
import { FunctionBuilder } from './function-builder.ts';
import { FunctionChores, type FunctionChoresOptions } from './function-chores.ts';
import { FunctionImages, type FunctionImagesOptions } from './function-images.ts';
import { OwnImage } from './own-image.ts';
import { WarmInstances } from './warm-instances.ts';

export type NodeFunctionsOptions = Omit<FunctionImagesOptions, 'builder' | 'ready'> &
  Omit<FunctionChoresOptions, 'engine'> & {
    /** Undefined where the runtime cannot build. */
    readonly builds: BuildEngine | undefined;
    /**
     * Environment of the agent, which determines how installations reach the package indexes of pip and npm.
     */
    readonly environment: Readonly<Record<string, string | undefined>>;
    /** Path of the single-file program; undefined where this process does not run from it. */
    readonly program: string | undefined;
    readonly exec: Exec;
  };

export interface NodeFunctions {
  readonly imageProviders: readonly ImageProvider[];
  /** Undefined where the node cannot build. */
  readonly chores: FunctionChores | undefined;
  /** Warm instances; undefined where the node cannot build. */
  readonly podObserver: PodObserver | undefined;
}

export function nodeFunctions(options: NodeFunctionsOptions): NodeFunctions {
  const { builds: engine, client, environment } = options;
  const ownImage = new OwnImage({ ...options, engine });
  if (!engine) {
    const images = new FunctionImages({ ...options, builder: undefined });
    return { imageProviders: [ownImage, images], chores: undefined, podObserver: undefined };
  }
  const builder = new FunctionBuilder({ client, engine, environment, readAsset });
  const chores = new FunctionChores({ ...options, engine });
  const warm = new WarmInstances({ ...options, engine });
  const images = new FunctionImages({ ...options, builder, ready: chores.ready });
  return { imageProviders: [ownImage, images], chores, podObserver: observerOf(warm) };
}

const observerOf = (warm: WarmInstances): PodObserver => ({
  async see(pod, observed) {
    const message = await warm.see(pod, observed);
    return message === undefined ? undefined : { reason: 'FunctionRefused', message };
  },
  forget: (uid) => warm.forget(uid),
});
