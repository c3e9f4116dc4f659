import { useSignal } from '@preact/signals';
import { session, signIn } from '../cluster/session.ts';

/** Asks for a token, or for the client certificate of the browser. */
export function Login() {
  const token = useSignal('');
  const busy = useSignal(false);
  const current = session.value;
  const message = current.state === 'signed out' ? current.message : undefined;
  const submit = async (credential: Parameters<typeof signIn>[0]) => {
    busy.value = true;
    try {
      await signIn(credential);
    } finally {
      busy.value = false;
    }
  };
  return (
    <main class="login" id="main">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit({ token: token.value.trim() });
        }}
      >
        <h1>minik8s</h1>
        <label for="token">Token</label>
        <input
          id="token"
          type="password"
          autocomplete="off"
          required
          value={token}
          onInput={(event) => {
            token.value = event.currentTarget.value;
          }}
        />
        {message && <p role="alert">{message}</p>}
        <button type="submit" class="primary" disabled={busy}>
          Sign in
        </button>
        <button type="button" disabled={busy} onClick={() => void submit({})}>
          Use my client certificate
        </button>
        <p class="faint">
          <code>minik8s ctl dashboard</code> signs in without a token.
        </p>
      </form>
    </main>
  );
}
