/** What the server is given, and what every request carries besides itself. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { FieldDocs } from '../apimachinery/openapi-schema.ts';
import type { MessageTable } from '../apimachinery/protobuf/message-types.ts';
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Cache } from '../storage/cache.ts';
import type { Store } from '../storage/store.ts';
import type { AdmissionPlugin } from './admission/plugin.ts';
import type { Authenticator, PeerCertificate } from './authentication/authenticator.ts';
import type { Field } from './authentication/impersonation.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { KindBehavior } from './kind-behavior.ts';
import type { MainLimits } from './load/in-flight.ts';
import type { Source } from './pushed-body.ts';
import type { EngineContext, UpgradedConnection } from './server-context.ts';
import type { UserInfo } from './user.ts';
import type { ReadYaml, WriteYaml } from './yaml-thread.ts';

/** Answers a request for one path. */
export type Document = (request: Request) => Response | Promise<Response>;

/** What a server of certain kinds brings to the engine. */
export interface ServerParts {
  readonly behavior: KindBehavior;
  /** In order. */
  readonly admission: readonly AdmissionPlugin[];
  /** Besides the engine's own: system:masters may do everything. */
  readonly authorizers: readonly Authorizer[];
  /** What is served beside resources and discovery, by path; authorized as any path is. */
  readonly documents: ReadonlyMap<string, Document>;
}

export interface ApiServerOptions {
  readonly store: Store;
  readonly cache: Cache;
  readonly kinds: Kinds;
  /** The fields of all types that the kinds and their subresources are made of. */
  readonly fields: FieldTable;
  readonly messages: MessageTable;
  /** What the kinds do, made once. */
  readonly parts: (engine: EngineContext) => ServerParts;
  /** Under this key the user of a request has the other end of its connection among its extra fields. */
  readonly remoteAddressKey?: string;
  readonly authenticate: Authenticator;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent where nothing is traced. */
  readonly tracer?: Tracer;
  /** The product's version, such as `0.1.0`; shown in /version behind Kubernetes' own. */
  readonly version: string;
  /** The descriptions of types and fields; read when the first client asks for them, and not kept. */
  readonly fieldDocs: () => Promise<FieldDocs>;
  /** Host and port under which clients reach the server, for discovery; default the Host of the request. */
  readonly advertiseAddress?: string;
  /** False until the cache has its first list; readyz says so. */
  readonly cacheSynced?: () => boolean;
  /** Reads bodies in YAML, away from this thread; by default on one of its own. */
  readonly readYaml?: ReadYaml;
  /** Writes answers in YAML, likewise. */
  readonly writeYaml?: WriteYaml;
  /** How much is answered at once; callers in this process are not counted. */
  readonly limits?: MainLimits;
  /** Measures what holds the event loop; default nothing does. */
  readonly loopMeter?: LoopMeter;
  /** Where requests are counted; default a page of its own that nobody reads. */
  readonly metrics?: Registry;
}

/** Set by whoever calls the app; never read from the request. */
export interface RequestEnv {
  /** The caller of an in-process request. */
  readonly user?: UserInfo;
  /** What such a caller reads and writes through, in place of the server's own store. */
  readonly store?: Store;
  readonly peer?: PeerCertificate;
  /** Of the request, where it is known without making its Headers, which join those of one name; none is an empty list. */
  readonly impersonation?: readonly Field[];
  /** What the request is for, where that is not its path: the path of a resource. */
  readonly address?: string;
  /** A sender without credentials is the anonymous user. */
  readonly mayBeAnonymous?: boolean;
  /** The other end of the connection, an IP address. */
  readonly remoteAddress?: string;
  /** Closes the client's connection, or its HTTP/2 stream: the only way to show that an answer under way is incomplete. */
  readonly hangUp?: () => void;
  /** Called with the user of the connection once it is known; false when that user has too many connections. */
  readonly belongsTo?: (user: string) => boolean;
  /** Calls `fn` when the answer has been sent, or the client has left. */
  readonly onClosed?: (fn: () => void) => void;
  /** Takes what writes the body of the answer, whose own body is then empty; without it that is a web stream. */
  readonly push?: (source: Source) => void;
  /** Aborts when the server stops: watches end, others finish. */
  readonly shutdown?: AbortSignal;
  /** What a request asks for that wants its connection to leave HTTP; absent for every other one. */
  readonly upgrade?: WantedUpgrade;
}

export interface WantedUpgrade {
  /** The headers that say which protocols the client speaks. */
  readonly headers: Readonly<Record<string, string>>;
  /** Joins the client's connection to that one instead of answering; the handler's response is not sent. */
  switchTo(connection: UpgradedConnection): void;
}
