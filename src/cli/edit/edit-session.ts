/** Opens objects in an editor, and reopens them with the errors until all are sent or the user cancels. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { errorMessage } from '../../base/log.ts';
import { ReportedError } from '../errors.ts';
import type { FlagTable } from '../flags/flags.ts';
import { parseManifests } from '../manifests/manifests.ts';
import { listOf, objectFormat } from '../printers/object-format.ts';
import type { VerbContext } from '../verb.ts';
import { type EditReason, editFailure, headerText, isBlank, withoutComments } from './edit-plan.ts';
import { discard, type EditedFile, editText, storedText } from './editor.ts';

export const lineEndingsFlag = {
  'windows-line-endings': {
    type: 'boolean',
    about: 'end the lines of the edited file as Windows does',
  },
} as const satisfies FlagTable;

export interface EditTask {
  readonly objects: readonly JsonObject[];
  readonly format: 'yaml' | 'json';
  /** First lines of the comment above the objects. */
  readonly introduction: string;
  /** True if the lines of the file end with a carriage return and a line feed. */
  readonly windowsLineEndings: boolean;
  /**
   * Sends an edited object and prints the result. Rejects with AnotherObjectError if it is none of the
   * objects, and with the server's error.
   */
  send(edited: JsonObject): Promise<void>;
  /** Returns the name of an edited object for messages, such as `deployments.apps "web"`. */
  nameOf(edited: JsonObject): string;
}

/** The edited object is none of the objects that were opened. */
export class AnotherObjectError extends Error {
  override readonly name = 'AnotherObjectError';
}

/** Rejects with ReportedError if an edit was not sent completely; the file is then kept. */
export async function runEditSession(context: Pick<VerbContext, 'io'>, task: EditTask): Promise<void> {
  await new EditSession(context, task).run();
}

class EditSession {
  readonly #context: Pick<VerbContext, 'io'>;
  readonly #task: EditTask;

  constructor(context: Pick<VerbContext, 'io'>, task: EditTask) {
    this.#context = context;
    this.#task = task;
  }

  async run(): Promise<void> {
    const original = this.#text();
    let [text, reasons]: [string, readonly EditReason[]] = [original, []];
    let before: EditedFile | undefined;
    for (;;) {
      const file = await this.#edit(this.#header(reasons) + text).catch((error) => {
        if (before) throw this.#kept(before, error);
        throw error;
      });
      const edited = withoutComments(file.text);
      if (before) await discard(before);
      if (before && edited === text)
        return this.#keepFile(file, 'Edit cancelled, no valid changes were saved.');
      const cancellation = cancellationOf(edited, original);
      if (cancellation !== undefined) return cancel(this.#context, file, cancellation);
      reasons = await this.#apply(file);
      if (reasons.length === 0) return discard(file);
      [text, before] = [edited, file];
    }
  }

  async #edit(text: string): Promise<EditedFile> {
    const { windowsLineEndings, format } = this.#task;
    const written = windowsLineEndings ? text.replaceAll('\n', '\r\n') : text;
    const file = await editText(this.#context.io, written, `.${format}`);
    return { ...file, text: file.text.replaceAll('\r\n', '\n') };
  }

  /** Returns the comment above the objects; JSON has no comments. */
  #header(reasons: readonly EditReason[]): string {
    return this.#task.format === 'json' ? '' : headerText(this.#task.introduction, reasons);
  }

  #text(): string {
    const { objects, format } = this.#task;
    const [only] = objects;
    const whole = only && objects.length === 1 ? only : { ...listOf(objects), metadata: {} };
    return objectFormat(format)?.(whole) ?? '';
  }

  /** Resolves to the reasons to edit the file again; empty if everything is sent. */
  async #apply(file: EditedFile): Promise<EditReason[]> {
    const { io } = this.#context;
    const entries = parseManifests(file.text, 'edited-file', (text) => io.err(`Warning: ${text}\n`));
    const wrong = entries.flatMap((entry) => ('error' in entry ? [entry.error.message] : []));
    if (wrong.length > 0)
      return wrong.map((why) => ({ head: `The edited file had a syntax error: ${why}`, details: [] }));
    const reasons: EditReason[] = [];
    for (const entry of entries) {
      if ('error' in entry) continue;
      const reason = await this.#applyOne(entry.object, file);
      if (reason) reasons.push(reason);
    }
    return reasons;
  }

  /** Resolves to the reason to edit the object again; undefined if it is sent. */
  async #applyOne(edited: JsonObject, file: EditedFile): Promise<EditReason | undefined> {
    const { io } = this.#context;
    try {
      await this.#task.send(edited);
      return undefined;
    } catch (error) {
      if (io.signal.aborted) throw this.#kept(file, error);
      if (error instanceof AnotherObjectError) return this.#keepFile(file, error.message);
      const failure = editFailure(error, this.#task.nameOf(edited));
      if (failure.kind === 'failed') return this.#keepFile(file, failure.message);
      io.err(`error: ${failure.message}\n`);
      return failure.reason;
    }
  }

  /** Says where the changes are, and returns the error for a command that ends without sending them. */
  #kept(file: EditedFile, error: unknown): unknown {
    const { io } = this.#context;
    if (!io.signal.aborted) return this.#keepFile(file, errorMessage(error));
    io.err(storedText(file));
    return error;
  }

  #keepFile(file: EditedFile, why: string): never {
    const { io } = this.#context;
    io.err(`error: ${why}\n`);
    io.err(storedText(file));
    throw new ReportedError();
  }
}

/** Returns the message for a text that is not applied; undefined for a text to apply. */
function cancellationOf(edited: string, original: string): string | undefined {
  if (edited === original) return 'Edit cancelled, no changes made.';
  return isBlank(edited) ? 'Edit cancelled, saved file was empty.' : undefined;
}

async function cancel({ io }: Pick<VerbContext, 'io'>, file: EditedFile, why: string): Promise<void> {
  await discard(file);
  io.err(`${why}\n`);
}
