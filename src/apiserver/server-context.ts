/** What every part of the server is built from; made once by createApiServer. */
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
import type { Encoders } from './encoding/encoders.ts';
import type { KindBehavior } from './kind-behavior.ts';
import type { LatestRevision } from './latest-revision.ts';
import type { WatchSelections } from './load/watch-selections.ts';
import type { Turns } from './turns.ts';
import type { WriteTurns } from './write-turns.ts';
import type { ReadYaml, WriteYaml } from './yaml-thread.ts';

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

/** What the engine has by itself: what its kinds bring is built from this. */
export interface EngineContext {
  readonly store: Store;
  readonly cache: Cache;
  /** Of the store, for reads that must miss nothing. */
  readonly latest: LatestRevision;
  readonly kinds: Kinds;
  /** The fields of all types, with what the rules of the kinds say of them. */
  readonly fields: FieldTable;
  readonly messages: MessageTable;
  readonly encoders: Encoders;
  readonly clock: Clock;
  readonly random: Random;
  /** Turns for requests with long work. */
  readonly turns: Turns;
  /** Turns for watches with events to write. */
  readonly writeTurns: WriteTurns;
  readonly watchSelections: WatchSelections;
  readonly log: Logger;
  /** Measures what holds the event loop; absent where nothing does. */
  readonly loopMeter?: LoopMeter | undefined;
  /** Objects say in which trace they were written. */
  readonly notesTraces: boolean;
  /** Authorizes what a request needs besides its own verb. */
  readonly authorize: Authorize;
  /** Tells whose a token is that is not the caller's. */
  readonly authenticate: Authenticator;
  readonly readYaml: ReadYaml;
  readonly writeYaml: WriteYaml;
}

/** The engine together with its kinds, as every request gets it. */
export interface ServerContext extends EngineContext {
  readonly behavior: KindBehavior;
  readonly admission: AdmissionChain;
}
