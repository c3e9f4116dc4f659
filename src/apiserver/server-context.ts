/** What every part of the server is built from; made once by createApiServer. */
import type { Duplex } from 'node:stream';
import type { Node } from '../api/core/v1/node.ts';
import { apiVersionOf, type ResourceDefinition } from '../apimachinery/resource-definition.ts';
import type { ReadCertificateRequest } from '../base/certificate-request.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Cache } from '../storage/cache.ts';
import type { Store } from '../storage/store.ts';
import type { AdmissionChain } from './admission/admission.ts';
import type { DefaultTolerations } from './admission/default-toleration-seconds.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { LatestRevision } from './latest-revision.ts';
import type { Turns } from './turns.ts';
import type { WriteTurns } from './write-turns.ts';
import type { ReadYaml } from './yaml-thread.ts';

/** Calls the HTTPS server of a node's agent; `path` begins with `/`. The answer's body is passed on as it comes. */
export interface NodeConnection {
  (node: string, path: string, signal: AbortSignal): Promise<Response>;
  /** Asks the agent to speak another protocol from then on; a Response is its refusal. */
  readonly upgrade?: (
    node: string,
    request: UpgradeRequest,
    signal: AbortSignal,
  ) => Promise<UpgradedConnection | Response>;
  /** A connection to the agent's server, on which nothing has been said yet. */
  readonly dial?: (node: string, signal: AbortSignal) => Promise<Duplex>;
}

export interface UpgradeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpgradedConnection {
  /** Of the answer that agreed (101). */
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: Duplex;
}

/** Why a node may not take its `spec.podCIDR` by itself, beside those other nodes; undefined when it may. */
export type PodRangeProblem = (node: Node, others: readonly Node[]) => string | undefined;

export interface ServerContext {
  readonly store: Store;
  readonly cache: Cache;
  /** Of the store, for reads that must miss nothing. */
  readonly latest: LatestRevision;
  readonly resources: ResourceTable;
  readonly clock: Clock;
  readonly random: Random;
  /** Turns for requests with long work. */
  readonly turns: Turns;
  /** Turns for watches with events to write. */
  readonly writeTurns: WriteTurns;
  readonly log: Logger;
  readonly serviceCIDR: string;
  /** First and last node port. */
  readonly nodePorts: readonly [number, number];
  readonly defaultTolerations: DefaultTolerations;
  readonly nodeConnection: NodeConnection | undefined;
  /** Authorizes what a request needs besides its own verb. */
  readonly authorize: Authorizer;
  readonly readCertificateRequest: ReadCertificateRequest;
  readonly mayRegister: (node: string) => boolean;
  readonly readYaml: ReadYaml;
  readonly podRangeProblem: PodRangeProblem;
  readonly admission: AdmissionChain;
}

export interface ResourceTable {
  readonly all: readonly ResourceDefinition[];
  find(group: string, version: string, plural: string): ResourceDefinition | undefined;
  /** In the version in which it is stored. Throws when the server was built without the kind. */
  get(group: string, plural: string): ResourceDefinition;
}

export function resourceTable(definitions: readonly ResourceDefinition[]): ResourceTable {
  const byPath = new Map<string, ResourceDefinition>();
  for (const definition of definitions) {
    const path = `${apiVersionOf(definition)}/${definition.plural}`;
    if (byPath.has(path)) throw new Error(`two definitions serve ${path}: remove one from the registry`);
    byPath.set(path, definition);
  }
  return {
    all: definitions,
    find: (group, version, plural) => byPath.get(`${apiVersionOf({ group, version })}/${plural}`),
    get(group, plural) {
      const found = definitions.find((d) => d.group === group && d.plural === plural && !d.conversion);
      if (!found) throw new Error(`no definition for ${plural} in group ${JSON.stringify(group)}`);
      return found;
    },
  };
}
