/** Options of the API server, and the environment that accompanies every request. */

import type { FieldTable } from '../apimachinery/field-types.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { FieldDocs } from '../apimachinery/openapi-schema.ts';
import type { MessageTable } from '../apimachinery/protobuf/message-types.ts';
import type { Clock } from '../base/clock.ts';
import type { Current } from '../base/current.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Registry } from '../base/metrics/registry.ts';
import type { Random } from '../base/random.ts';
import type { Tracer } from '../base/tracing/span.ts';
import type { Cache } from '../storage/cache.ts';
import type { Store } from '../storage/store.ts';
import type { AdmissionPlugin } from './admission/plugin.ts';
import type { Authenticator, ExpiredCertificate, PeerCertificate } from './authentication/authenticator.ts';
import type { Field } from './authentication/impersonation.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { ReadYaml, WriteYaml } from './body/yaml-thread.ts';
import type { Delegation } from './delegation.ts';
import type { KindBehavior } from './kind-behavior.ts';
import type { MainLimits } from './load/in-flight.ts';
import type { UserInfo } from './request/user.ts';
import type { EngineContext, WantedUpgrade } from './server-context.ts';
import type { KindSubresources } from './subresources/subresources.ts';
import type { Source } from './transport/pushed-body.ts';

/** Answers a request for one path. */
export type Document = (request: Request) => Response | Promise<Response>;

export type AnswerFirst = (request: Request, env: RequestEnv) => Promise<Response> | undefined;

/** Parts that a server of certain kinds adds to the engine. */
export interface ServerParts {
  readonly behavior: KindBehavior & KindSubresources;
  /** Admission plugins, in the order in which they run. */
  readonly admission: readonly AdmissionPlugin[];
  /** Authorizers of these kinds. The engine adds its own, which allows everything to system:masters. */
  readonly authorizers: readonly Authorizer[];
  /**
   * Documents served besides resources and discovery, by path. Each is authorized like any non-resource path.
   */
  readonly documents: ReadonlyMap<string, Document>;
  /** Documents that answer POST, by path; each is authorized for the verb `post`. */
  readonly actions?: ReadonlyMap<string, Document>;
  /** Texts that answer GET with `watch=true`, by path; each is authorized for the verb `watch`. */
  readonly watches?: ReadonlyMap<string, Current<string>>;
  /** Other servers, to which requests for their groups are forwarded. */
  readonly delegation?: Delegation;
}

export interface ApiServerOptions {
  readonly store: Store;
  readonly cache: Cache;
  readonly kinds: Kinds;
  /** Fields of all types that the kinds and their subresources consist of. */
  readonly fields: FieldTable;
  readonly messages: MessageTable;
  /** Builds the behavior of the kinds; called once. */
  readonly parts: (engine: EngineContext) => ServerParts;
  /** Key in the user's extra fields that holds the remote address of the request's connection. */
  readonly remoteAddressKey?: string;
  readonly authenticate: Authenticator;
  /** Answers requests before authentication; returns undefined for those that it leaves to the server. */
  readonly answerFirst?: AnswerFirst;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Absent if tracing is disabled. */
  readonly tracer?: Tracer;
  /** Version of the product, such as `0.1.0`. /version shows it after Kubernetes' own version. */
  readonly version: string;
  /**
   * Loads the descriptions of types and fields. Called when a client first requests them; the result is not
   * kept.
   */
  readonly fieldDocs: () => Promise<FieldDocs>;
  /**
   * Host and port under which clients reach the server, for discovery; defaults to the Host header of the
   * request.
   */
  readonly advertiseAddress?: string;
  /** Returns false until the cache has its first list; readyz reports the result. */
  readonly cacheSynced?: () => boolean;
  /** Parses YAML bodies outside the main thread; defaults to a worker thread of the server's own. */
  readonly readYaml?: ReadYaml;
  /** Serializes answers as YAML outside the main thread; defaults to a worker thread of the server's own. */
  readonly writeYaml?: WriteYaml;
  /** Maximum number of concurrent requests. Requests from this process are not counted. */
  readonly limits?: MainLimits;
  /** Measures the work that occupies the event loop; by default nothing is measured. */
  readonly loopMeter?: LoopMeter;
  /** Registry of the request metrics; defaults to a private registry that is never exposed. */
  readonly metrics?: Registry;
}

/** Environment of a request, set by the caller of the app; never read from the request. */
export interface RequestEnv {
  /** User of an in-process request. */
  readonly user?: UserInfo;
  /** Store that an in-process request reads and writes, in place of the server's own store. */
  readonly store?: Store;
  readonly peer?: PeerCertificate;
  /** Present if the client's certificate is verified, except that it has expired. */
  readonly expired?: ExpiredCertificate;
  /**
   * Impersonation headers of the request, if the caller can read them without building a Headers object,
   * which joins headers of the same name. An empty list means that the request has none.
   */
  readonly impersonation?: readonly Field[];
  /** Path of the resource that the request addresses, if it differs from the path of the request. */
  readonly address?: string;
  /** Treats a sender without credentials as the anonymous user. */
  readonly mayBeAnonymous?: boolean;
  /** IP address of the other end of the connection. */
  readonly remoteAddress?: string;
  /**
   * Closes the client's connection, or its HTTP/2 stream. Closing is the only way to show that a partly sent
   * answer is incomplete.
   */
  readonly hangUp?: () => void;
  /**
   * Called with the name of the connection's user once it is known. Returns false if that user has too many
   * connections.
   */
  readonly belongsTo?: (user: string) => boolean;
  /** Calls `fn` when the answer has been sent or the client has disconnected. */
  readonly onClosed?: (fn: () => void) => void;
  /**
   * Accepts the source that writes the answer's body; the body of the response itself is then empty. If
   * absent, the body is a web stream.
   */
  readonly push?: (source: Source) => void;
  /** Aborts when the server stops: watches end, other requests finish. */
  readonly shutdown?: AbortSignal;
  /** Upgrade that the request asks for; absent for every request that stays HTTP. */
  readonly upgrade?: WantedUpgrade;
}
