/** The engine of an API server: what all kinds have in common. */
import { inTurns } from '../base/event-loop/pieces.ts';
import type { Authorize } from './authorization/authorizer.ts';
import { createYamlReader, createYamlWriter } from './body/yaml-thread.ts';
import { createEncoders } from './encoding/encoders.ts';
import { WatchSelections } from './load/watch-selections.ts';
import type { ApiServerOptions } from './options.ts';
import { LatestRevision } from './reads/latest-revision.ts';
import type { EngineContext } from './server-context.ts';
import { Turns } from './turns.ts';
import { VersionReader } from './versions/version-reader.ts';
import { WriteTurns } from './write-turns.ts';

/** Creates the engine. `authorize` is not called before the engine has its kinds. */
export function createEngine(options: ApiServerOptions, authorize: Authorize): EngineContext {
  const turns = new Turns(options.clock, options.loopMeter);
  return {
    store: options.store,
    cache: options.cache,
    latest: new LatestRevision(options.store, options.clock, inTurns(options.clock, options.loopMeter)),
    kinds: options.kinds,
    fields: options.fields,
    messages: options.messages,
    encoders: createEncoders(options.messages, () => options.clock.now()),
    clock: options.clock,
    random: options.random,
    turns,
    writeTurns: new WriteTurns(options.clock),
    watchSelections: new WatchSelections(),
    versionReader: new VersionReader(turns),
    log: options.log.named('apiserver'),
    loopMeter: options.loopMeter,
    notesTraces: options.tracer !== undefined,
    authorize,
    authenticate: options.authenticate,
    readYaml: options.readYaml ?? createYamlReader(options.clock),
    writeYaml: options.writeYaml ?? createYamlWriter(options.clock),
  };
}
