/**
 * Runs a set of controllers over one set of informers: builds the controllers, starts the informers once,
 * waits for their first list and runs all controllers. A controller that fails is logged and started again
 * with back-off; the other controllers and the process continue. With leader election a manager runs for one
 * term and keeps no state of an earlier term.
 */

import { noExtensionKinds } from '../apimachinery/extension-kinds.ts';
import type { Kinds } from '../apimachinery/kind-set.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import { Backoff } from '../base/backoff.ts';
import { inTurns } from '../base/event-loop/pieces.ts';
import { type Failure, keepDoing } from '../base/keep-doing.ts';
import { errorMessage, type Logger } from '../base/log.ts';
import { Controller, type ControllerOptions } from './controller.ts';
import type { ControllerFactory, SharedContext } from './definition.ts';

export interface ManagerOptions extends SharedContext {
  readonly controller?: ControllerOptions;
  /** Controllers with `startsLater` begin when it resolves; default: with the others. Must not reject. */
  readonly later?: Promise<void>;
}

export interface Manager {
  /** Adds a controller. Must be called before `run`. */
  add(factory: ControllerFactory): void;
  /** Resolves after the signal has aborted and every running reconcile and reflector has ended. */
  run(signal: AbortSignal): Promise<void>;
}

export function createManager(options: ManagerOptions): Manager {
  const factories: ControllerFactory[] = [];
  const log = options.log.named('manager');

  return {
    add(factory) {
      factories.push(factory);
    },

    async run(signal) {
      // A kind may be added while the caches are filled.
      const known = options.kinds.stored;
      const nextPiece = inTurns(options.clock, options.loopMeter);
      const controllers: Controller[] = [];
      for (const factory of factories) {
        await nextPiece();
        controllers.push(
          ...build(factory, { ...options, controller: { nextPiece, ...options.controller } }, log),
        );
      }
      try {
        await options.informers.start(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (signal.aborted) log.debug('stopped before the caches had synced');
      else {
        const unfollow = followKinds(controllers, known, options, signal);
        const started = async (controller: Controller) => {
          if (controller.startsLater) await options.later;
          await keepRunning(controller, options, log, signal);
        };
        await Promise.all(controllers.map(started));
        unfollow();
      }
      await options.informers.stopped();
    },
  };
}

/**
 * Builds one controller. A controller that cannot be built is logged and omitted; the others run without it.
 */
function build(factory: ControllerFactory, options: ManagerOptions, log: Logger): readonly Controller[] {
  try {
    const controller = new Controller(factory, options, options.controller);
    controller.attach();
    return [controller];
  } catch (error) {
    log.error('a controller cannot be built and will not run', {
      factory: factory.name,
      error: errorMessage(error),
    });
    return [];
  }
}

/**
 * Follows kinds added after those in `known`, and all kinds of extension servers, and stops following removed
 * kinds. Returns a function that ends this.
 */
function followKinds(
  controllers: readonly Controller[],
  known: Kinds['stored'],
  { informers, kinds, extensionKinds = noExtensionKinds }: ManagerOptions,
  signal: AbortSignal,
): () => void {
  let before: readonly ResourceRef[] = known;
  const follow = () => {
    const { current } = extensionKinds;
    const now = [...kinds.stored, ...current];
    const gone = new Set(before).difference(new Set(now));
    before = now;
    // Removed kinds come first: a definition with another schema is a removed and an added kind.
    for (const kind of gone) informers.forget(kind);
    for (const controller of controllers) controller.followKinds(current);
    // The promise rejects only when the signal aborts, which ends everything here.
    informers.start(signal).catch(() => undefined);
  };
  const unfollow = [kinds.onChange(follow), extensionKinds.onChange(follow)];
  if (kinds.stored !== known || extensionKinds.current.length > 0) follow();
  return () => {
    for (const end of unfollow) end();
  };
}

async function keepRunning(
  controller: Controller,
  { clock, random }: ManagerOptions,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 }, random);
  const onError = (error: unknown, { retryMs }: Failure) =>
    log.error('a controller failed; starting it again', {
      controller: controller.name,
      error: errorMessage(error),
      retryMs: Math.round(retryMs),
    });
  await keepDoing({ clock, signal, restMs: 0, backoff, keepsBackoff: true, onError }, () =>
    controller.run(signal),
  );
}
