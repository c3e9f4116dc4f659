/** Context from which every part of the server is built; created once by createApiServer. */
import type { Duplex } from 'node:stream';
import type { FieldTable } from '../apimachinery/field-types.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { MessageTable } from '../apimachinery/protobuf/message-types.ts';
import type { Clock } from '../base/clock.ts';
import type { LoopMeter } from '../base/event-loop/loop-meter.ts';
import type { Logger } from '../base/log.ts';
import type { Random } from '../base/random.ts';
import type { Cache } from '../storage/cache.ts';
import type { Store } from '../storage/store.ts';
import type { AdmissionChain } from './admission/admission.ts';
import type { Authenticator } from './authentication/authenticator.ts';
import type { Authorize } from './authorization/authorizer.ts';
import type { ReadYaml, WriteYaml } from './body/yaml-thread.ts';
import type { Encoders } from './encoding/encoders.ts';
import type { KindBehavior } from './kind-behavior.ts';
import type { WatchSelections } from './load/watch-selections.ts';
import type { LatestRevision } from './reads/latest-revision.ts';
import type { Turns } from './turns.ts';
import type { VersionReader } from './versions/version-reader.ts';
import type { WriteTurns } from './write-turns.ts';

export interface UpgradeRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface UpgradedConnection {
  /** Headers of the answer that accepted the upgrade (101). */
  readonly headers: Readonly<Record<string, string>>;
  readonly socket: Duplex;
}

/** Upgrade of the client's connection that a request asks for. */
export interface WantedUpgrade {
  /** Request headers that list the protocols which the client supports. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Joins the client's connection to `connection` instead of answering. The response of the handler is not
   * sent.
   */
  switchTo(connection: UpgradedConnection): void;
}

/** Parts of the engine itself. The behavior of the kinds is built from this context. */
export interface EngineContext {
  readonly store: Store;
  readonly cache: Cache;
  /** Latest revision of the store, for reads that must miss nothing. */
  readonly latest: LatestRevision;
  readonly kinds: Kinds;
  /** Fields of all types, with the metadata that the validation rules of the kinds add to them. */
  readonly fields: FieldTable;
  readonly messages: MessageTable;
  readonly encoders: Encoders;
  readonly clock: Clock;
  readonly random: Random;
  /** Scheduler of requests with long work. */
  readonly turns: Turns;
  /** Scheduler of watches that have events to write. */
  readonly writeTurns: WriteTurns;
  readonly watchSelections: WatchSelections;
  /** Objects of kinds whose versions a program converts. */
  readonly versionReader: VersionReader;
  readonly log: Logger;
  /** Measures the work that occupies the event loop; absent if nothing is measured. */
  readonly loopMeter?: LoopMeter | undefined;
  /** Annotates objects with the trace in which they were written. */
  readonly notesTraces: boolean;
  /** Authorizes access that a request needs besides its own verb. */
  readonly authorize: Authorize;
  /** Returns the user of a token that is not the caller's own. */
  readonly authenticate: Authenticator;
  readonly readYaml: ReadYaml;
  readonly writeYaml: WriteYaml;
}

/** The engine together with the behavior of its kinds, as every request receives it. */
export interface ServerContext extends EngineContext {
  readonly behavior: KindBehavior;
  readonly admission: AdmissionChain;
}
