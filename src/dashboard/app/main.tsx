import { effect } from '@preact/signals';
import { render } from 'preact';
import { followDefinitions } from './cluster/definitions.ts';
import { loadKinds } from './cluster/kinds.ts';
import { session, startSession } from './cluster/session.ts';
import { listenForShortcut } from './palette/palette.tsx';
import { keepRecent } from './palette/recent.ts';
import { Layout } from './shell/layout.tsx';
import { Login } from './shell/login.tsx';
import { followLinks } from './shell/router.ts';
import { keepScope } from './shell/scope.ts';
import { applyTheme } from './shell/theme.ts';
import './styles/main.css';

function App() {
  const { state } = session.value;
  if (state === 'unknown') return <p class="faint">Loading…</p>;
  return state === 'signed out' ? <Login /> : <Layout />;
}

applyTheme();
keepScope();
followLinks();
followDefinitions();
keepRecent();
listenForShortcut();
effect(() => {
  const { state } = session.value;
  if (state === 'signed in' || state === 'by proxy') void loadKinds().catch(() => undefined);
});
const root = document.getElementById('app');
if (root) render(<App />, root);
await startSession();
