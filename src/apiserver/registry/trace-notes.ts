/**
 * Which trace an object says it was written in. Nobody owns the annotation and nobody else sets it, so it is no conflict of an apply, no
 * entry of managedFields, and no change by itself: only a write that changes something else writes it.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { setTraceNote, traceNoteOf } from '../../apimachinery/trace-note.ts';
import { currentSpan } from '../../base/tracing/current-span.ts';
import { formatTraceparent, parseTraceparent, type TraceContext } from '../../base/tracing/trace-context.ts';
import type { ServerContext } from '../server-context.ts';
import { isPartOfCluster } from '../user.ts';
import type { WriteOptions } from '../write-options.ts';
import { controllingOwner } from './controlling-owner.ts';

export interface NotedWrite {
  /** By a controller, a node or another part of the cluster itself. */
  readonly isOwn: boolean;
  /** Where the request is in a trace that is recorded. */
  readonly context: TraceContext | undefined;
  /** What the object's controller says; undefined for one that has none. */
  readonly owner: { readonly note: string | undefined } | undefined;
  /** What the object has said so far. */
  readonly before: string | undefined;
  /** It is new, or asks for something else than before. */
  readonly asksAnew: boolean;
}

/**
 * A user's write is where a trace leads from, or none does. What a controller's object becomes has the cause of its owner. What parts of
 * the cluster write besides is of the trace they are in; outside of any they take a cause away that is no longer the cause.
 */
export function nextNote({ isOwn, context, owner, before, asksAnew }: NotedWrite): string | undefined {
  const here = context?.sampled ? formatTraceparent(context) : undefined;
  if (!isOwn) return here;
  if (owner) return parseTraceparent(owner.note) ? owner.note : undefined;
  if (here !== undefined) return parseTraceparent(before)?.traceId === context?.traceId ? before : here;
  return asksAnew ? undefined : before;
}

type Server = Pick<ServerContext, 'notesTraces' | 'cache' | 'kinds'>;

/** Before anything is decided on a write: what its sender says of traces is not taken. Changes `object`. */
export function keepNote({ notesTraces }: Server, object: KubeObject, old?: KubeObject): void {
  if (notesTraces) setTraceNote(object, old && traceNoteOf(old));
}

/** Of a write that is about to be stored. Changes `object`. */
export function noteTrace(
  server: Server,
  object: KubeObject,
  old: KubeObject | undefined,
  { user, dryRun }: Pick<WriteOptions, 'user' | 'dryRun'>,
): void {
  if (!server.notesTraces || dryRun) return;
  const isOwn = isPartOfCluster(user);
  const owner = isOwn ? controllingOwner(server, object) : undefined;
  const note = nextNote({
    isOwn,
    context: currentSpan()?.context,
    owner: owner && { note: traceNoteOf(owner) },
    before: old && traceNoteOf(old),
    asksAnew: !old || old.metadata.generation !== object.metadata.generation,
  });
  setTraceNote(object, note);
}
