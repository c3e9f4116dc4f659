/** The one dialog of the app, and short notices of what was done. */
import { signal } from '@preact/signals';
import type { ComponentChildren, FunctionComponent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { errorMessage } from '../../../base/log.ts';
import { ButtonRow } from './button-row.tsx';

export interface Dialog {
  readonly title: string;
  /** The content; `close` closes the dialog. */
  readonly content: FunctionComponent<{ readonly close: () => void }>;
}

const current = signal<Dialog | undefined>(undefined);

export function openDialog(dialog: Dialog): void {
  current.value = dialog;
}

const close = () => {
  current.value = undefined;
};

/** Shows the open dialog; the Escape key closes it, and the focus returns to where it was. */
export function DialogPlace() {
  const dialog = current.value;
  return dialog ? <Shown key={dialog.title} {...dialog} /> : null;
}

function Shown({ title, content: Content }: Dialog) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby="dialog-title" onClose={close}>
      <h2 id="dialog-title">{title}</h2>
      <Content close={close} />
    </dialog>
  );
}

interface EndProps {
  /** Why the action has failed; empty while it has not. */
  readonly failure: string;
  readonly close: () => void;
  /** The word on the button that closes the dialog; `Cancel` if it is absent. */
  readonly closeWord?: string | undefined;
  /** The button that acts; absent once there is nothing more to do. */
  readonly children?: ComponentChildren;
}

/** The end of a dialog's form: the failure, if there is one, and the buttons. */
export const DialogEnd = ({ failure, close, closeWord = 'Cancel', children }: EndProps) => (
  <>
    {failure !== '' && (
      <p class="notice bad" role="alert">
        {failure}
      </p>
    )}
    <ButtonRow>
      <button type="button" onClick={close}>
        {closeWord}
      </button>
      {children}
    </ButtonRow>
  </>
);

interface Notice {
  readonly text: string;
  readonly isFailure: boolean;
}

const notices = signal<readonly Notice[]>([]);
const shownMs = 6_000;

export function notify(text: string, isFailure = false): void {
  const notice = { text, isFailure };
  notices.value = [...notices.value, notice];
  setTimeout(() => {
    notices.value = notices.value.filter((each) => each !== notice);
  }, shownMs);
}

/** Runs an action and shows its failure. */
export async function orNotify(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    notify(errorMessage(error), true);
  }
}

export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <p key={notice.text} class={notice.isFailure ? 'bad' : undefined}>
          {notice.text}
        </p>
      ))}
    </div>
  );
}
