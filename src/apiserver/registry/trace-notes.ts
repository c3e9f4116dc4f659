/**
 * Annotation with the trace in which an object was written. The annotation has no owner and only the server
 * sets it, so it causes no conflict of an apply, no entry of managedFields and no write of its own: only a
 * write that changes something else updates it.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { setTraceNote, traceNoteOf } from '../../apimachinery/trace-note.ts';
import { currentSpan } from '../../base/tracing/current-span.ts';
import { formatTraceparent, parseTraceparent, type TraceContext } from '../../base/tracing/trace-context.ts';
import { isPartOfCluster } from '../request/user.ts';
import type { ServerContext } from '../server-context.ts';
import type { WriteOptions } from '../write-options.ts';
import { controllingOwner } from './controlling-owner.ts';

export interface NotedWrite {
  /** True if the writer is a controller, a node or another part of the cluster itself. */
  readonly isOwn: boolean;
  /** Position of the request in a recorded trace. */
  readonly context: TraceContext | undefined;
  /** Annotation of the object's controlling owner; undefined for an object without an owner. */
  readonly owner: { readonly note: string | undefined } | undefined;
  /** Previous annotation of the object. */
  readonly before: string | undefined;
  /** True if the object is new, or its desired state has changed. */
  readonly asksAnew: boolean;
}

/**
 * Returns the next annotation. The write of a user sets the trace of its request, or none. An object of a
 * controller inherits the annotation of its owner. Other writes of the cluster set the trace that they are
 * part of; outside a trace, a change of the desired state removes the annotation, because that trace is no
 * longer the cause.
 */
export function nextNote({ isOwn, context, owner, before, asksAnew }: NotedWrite): string | undefined {
  const here = context?.sampled ? formatTraceparent(context) : undefined;
  if (!isOwn) return here;
  if (owner) return parseTraceparent(owner.note) ? owner.note : undefined;
  if (here !== undefined) return parseTraceparent(before)?.traceId === context?.traceId ? before : here;
  return asksAnew ? undefined : before;
}

type Server = Pick<ServerContext, 'notesTraces' | 'cache' | 'kinds'>;

/**
 * Restores the stored annotation before a write is processed: the sender's value is ignored. Mutates
 * `object`.
 */
export function keepNote({ notesTraces }: Server, object: KubeObject, old?: KubeObject): void {
  if (notesTraces) setTraceNote(object, old && traceNoteOf(old));
}

/** Sets the annotation of an object that is about to be stored. Mutates `object`. */
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
