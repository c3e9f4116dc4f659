/** Groups and versions that other servers serve, to which this server forwards requests. */
import type { JsonObject } from '../apimachinery/equality.ts';
import type { UserInfo } from './request/user.ts';
import type { Headers } from './respond.ts';
import type { WantedUpgrade } from './server-context.ts';

/** A request that is authenticated, authorized and counted. */
export interface DelegatedRequest {
  readonly group: string;
  readonly version: string;
  readonly request: Request;
  readonly user: UserInfo;
  /** The connection of the client, as in RequestEnv. */
  readonly env: {
    readonly upgrade?: WantedUpgrade | undefined;
    readonly shutdown?: AbortSignal | undefined;
    readonly remoteAddress?: string | undefined;
  };
  /** True for a request without a timeout, such as a watch. */
  readonly isLongRunning: boolean;
  /** Headers of the answer, unless the other server sets them. */
  readonly headers: Headers;
}

/** Discovery of a version that another server serves. */
export interface DelegatedVersion {
  readonly group: string;
  readonly version: string;
  /** Priorities; the highest come first. */
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Resources in the form of aggregated discovery (apidiscovery.k8s.io/v2). */
  readonly resources: readonly JsonObject[];
  /** Stale if the other server could not be reached lately. */
  readonly freshness: 'Current' | 'Stale';
}

/** OpenAPI of a version that another server serves. */
export interface DelegatedDescription {
  readonly group: string;
  readonly version: string;
  /** Document of version 3, in JSON; undefined if the server has none. */
  readonly v3: Uint8Array | undefined;
  /** Paths and definitions of version 2; undefined if the server has none. */
  readonly v2: DelegatedV2 | undefined;
}

export interface DelegatedV2 {
  readonly paths: Readonly<Record<string, JsonObject>>;
  readonly definitions: Readonly<Record<string, JsonObject>>;
}

export interface Delegation {
  /** OpenAPI of other servers; another array after every change. */
  readonly descriptions: readonly DelegatedDescription[];
  /** Versions of other servers, for discovery; another array after every change. */
  readonly versions: readonly DelegatedVersion[];
  /** Returns the priority of a group that this server serves itself; discovery lists the highest first. */
  groupPriority?(group: string): number;
  /** Returns true if another server serves the version, whether or not it answers. */
  delegates(group: string, version: string): boolean;
  /** Resolves to the answer of the other server, or to an error answer with the reason why there is none. */
  forward(request: DelegatedRequest): Promise<Response>;
}
