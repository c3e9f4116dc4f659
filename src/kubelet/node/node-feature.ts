/** Contract of a feature of minik8s on a node. */
import type { Readable } from 'node:stream';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { Client } from '../../client/client.ts';
import type { EventRecorder } from '../../controller-runtime/events.ts';
import type { Exec } from '../../os/exec.ts';
import type { ClusterImages } from '../images/cluster-images.ts';
import type { ImageProvider } from '../images/image-provider.ts';
import type { ImagePuller } from '../images/image-puller.ts';
import type { ImageRecord } from '../images/image-record.ts';
import type { PodObserver } from '../runtime/pod-observer.ts';
import type { ContainerRuntime } from '../runtime/runtime.ts';

/** Parts of the agent that a feature may use. */
export interface NodeFeatureContext {
  readonly client: Client;
  readonly runtime: ContainerRuntime;
  readonly images: Pick<ImagePuller, 'ensure'>;
  readonly record: Pick<ImageRecord, 'gaveUp' | 'pulling' | 'pulled'>;
  readonly events: EventRecorder;
  readonly exec: Exec;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly nodeName: string;
  /** The agent's own directory, inside the node's. */
  readonly dataDir: string;
}

/** Files that a feature serves to other nodes at the agent's server, each below its own prefix. */
export interface ServedFiles {
  /** Beginning of the paths, such as `/images/`. The name that follows is part of the access check. */
  readonly prefix: string;
  /** Resource that a caller must be allowed to `get`, by the name in the path. */
  readonly resource: { readonly group: string; readonly resource: string; readonly subresource: string };
  /** Opens a file. Resolves with undefined if there is none; throws RequestError. */
  open(name: string, signal: AbortSignal): Promise<Readable | undefined>;
}

/** Part of a feature in one run of the agent. */
export interface NodePart {
  readonly imageProviders?: readonly ImageProvider[];
  readonly clusterImages?: ClusterImages;
  /** Serves files of this node to other nodes; absent: there are none. */
  readonly files?: ServedFiles;
  readonly podObserver?: PodObserver;
  /** Called when a pod and its containers have gone. */
  podGone?(): void;
  /** Works until the signal aborts; never rejects. */
  run?(signal: AbortSignal): Promise<void>;
  /**
   * Works until the signal aborts; never rejects. Starts once this node belongs to the cluster: until then
   * the agent may read few objects.
   */
  runAsMember?(signal: AbortSignal): Promise<void>;
}

export interface NodeFeature {
  /** Returns true for a pod to which other pods may not connect. */
  isClosed?(pod: Pod): boolean;
  start(context: NodeFeatureContext): NodePart;
}

/** Returns one observer for all: the first reason why a pod must end counts. */
export function observerOf(parts: readonly NodePart[]): PodObserver {
  const observers = parts.flatMap(({ podObserver }) => podObserver ?? []);
  return {
    async see(pod, observed) {
      for (const observer of observers) {
        const problem = await observer.see(pod, observed);
        if (problem) return problem;
      }
      return undefined;
    },
    forget(uid) {
      for (const observer of observers) observer.forget(uid);
    },
  };
}
