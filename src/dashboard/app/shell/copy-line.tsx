/** A line of text, such as a command, with a button that copies it. */
import { useSignal } from '@preact/signals';
import { notify } from './dialog.tsx';
import { Icon } from './icon.tsx';

interface Props {
  readonly text: string;
  /** A remark behind the line. */
  readonly about?: string | undefined;
}

const copyIcon = 'M9 9h11v11H9zM5 15H4V4h11v1';
const doneIcon = 'M5 12l5 5 9-10';

export function CopyLine({ text, about }: Props) {
  const isDone = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      isDone.value = true;
      setTimeout(() => {
        isDone.value = false;
      }, 1500);
    } catch {
      notify('The browser does not allow copying here: select the text and copy it with the keyboard.', true);
    }
  };
  return (
    <div class="copy-line">
      <code>{text}</code>
      <button
        type="button"
        class="quiet icon-only"
        aria-label={`Copy: ${text}`}
        title="Copy"
        onClick={() => void copy()}
      >
        <Icon path={isDone.value ? doneIcon : copyIcon} />
      </button>
      {about !== undefined && <span class="faint">{about}</span>}
    </div>
  );
}
