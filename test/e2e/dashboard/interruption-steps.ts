/** Connections that are cut, and a master that starts again, while a page is open. */
import { waitFor } from '../harness/wait-for.ts';
import type { Step } from './step.ts';

export const interruptionSteps: readonly Step[] = [
  {
    name: 'a table whose watch was interrupted shows the changes since then',
    async run({ browser, cluster: { kubectl }, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=meanwhile');
      await page.getByText('Nothing here matches meanwhile').waitFor();
      browser.cut();
      await kubectl('create', 'configmap', 'meanwhile', '-n', 'shop');
      await page.getByText(/The connection is lost/).waitFor();
      browser.mend();
      await page.getByRole('link', { name: 'meanwhile', exact: true }).waitFor();
      await page.getByText(/The connection is lost/).waitFor({ state: 'detached' });
      await page.context().close();
    },
  },
  {
    name: 'an open page continues after a restart of the master, with the same session',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/configmaps?q=restarted');
      await page.getByText('Nothing here matches restarted').waitFor();
      await cluster.end('SIGTERM');
      await cluster.up();
      await cluster.kubectl('create', 'configmap', 'restarted', '-n', 'shop');
      await page.getByRole('link', { name: 'restarted', exact: true }).waitFor();
      await page.reload();
      await page.getByRole('link', { name: 'restarted', exact: true }).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a log that is followed continues after a restart of the master',
    async run({ browser, cluster, tokens }) {
      const { kubectl } = cluster;
      const say = (word: string) =>
        kubectl('exec', 'deployment/chatty', '-n', 'shop', '--', 'sh', '-c', `echo ${word} >/proc/1/fd/1`);
      const page = await browser.signIn(tokens.admin, 'logs?ns=shop&labels=app%3Dchatty');
      const log = page.getByLabel('Log', { exact: true });
      const search = page.getByLabel('Search the log');
      await search.fill('before-the-restart');
      await say('before-the-restart');
      await log.locator('mark').first().waitFor();
      await cluster.end('SIGTERM');
      await cluster.up();
      await search.fill('after-the-restart');
      await waitFor('a command in the container', () => say('after-the-restart').then(() => true));
      await log.locator('mark').first().waitFor();
      await page.context().close();
    },
  },
];
