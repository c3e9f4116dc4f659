/** The editor of objects. */
import assert from 'node:assert/strict';
import type { V1Deployment } from '@kubernetes/client-node';
import type { Page } from 'playwright-core';
import type { Cluster } from '../harness/cluster.ts';
import { waitFor } from '../harness/wait-for.ts';
import { barriers } from './accessibility.ts';
import type { Step } from './step.ts';

const web = ({ kubectl }: Cluster) => kubectl.json<V1Deployment>('get', 'deployment', 'web', '-n', 'shop');

/** Puts the cursor behind the first occurrence of a text in the editor, by the editor's own search. */
async function goBehind(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('Control+f');
  await page.getByPlaceholder('Find').pressSequentially(text);
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('ArrowRight');
}

async function backspace(page: Page, times: number): Promise<void> {
  for (let index = 0; index < times; index++) await page.keyboard.press('Backspace');
}

/** Milliseconds, with a margin, in which CodeMirror ignores Enter after it opened a list of suggestions. */
const listIsNewMs = 150;

/** Takes a suggestion of the editor by the keyboard. */
async function takeOption(page: Page, name: string | RegExp): Promise<void> {
  await page.getByRole('option', { name }).waitFor();
  await page.waitForTimeout(listIsNewMs);
  await page.keyboard.press('Enter');
}

export const editorSteps: readonly Step[] = [
  {
    name: 'an edit is shown as a difference by the dry run before it is saved',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/deployments.apps/shop/web/yaml');
      await goBehind(page, 'replicas: 2');
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'editor');
      await backspace(page, 1);
      await page.keyboard.type('3');
      await page.getByRole('button', { name: 'Review changes' }).click();
      const changes = page.getByRole('region', { name: 'Changes', exact: true });
      await changes.getByText('replicas: 3').waitFor();
      assert.deepEqual(await changes.locator('.diff-removed').allTextContents(), [
        '− removed:   replicas: 2',
      ]);
      assert.deepEqual(await changes.locator('.diff-added').allTextContents(), ['+ added:   replicas: 3']);
      assert.equal((await web(cluster)).spec?.replicas, 2);
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'difference');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Deployment web is saved.').waitFor();
      assert.equal((await web(cluster)).spec?.replicas, 3);
      await page.context().close();
    },
  },
  {
    name: 'a value that the server refuses is named, with its field, and nothing is saved',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/deployments.apps/shop/web/yaml');
      await goBehind(page, 'replicas: 3');
      await backspace(page, 1);
      await page.keyboard.type('-1');
      await page.getByRole('button', { name: 'Review changes' }).click();
      assert.match((await page.getByRole('alert').textContent()) ?? '', /spec\.replicas/);
      await page.locator('.cm-lint-marker-error').waitFor();
      assert.equal((await web(cluster)).spec?.replicas, 3);
      await page.context().close();
    },
  },
  {
    name: 'the editor suggests fields with the texts of the schema, and the values of a choice',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/boats.sea.example.org/shop/dove/yaml');
      await goBehind(page, 'color: red');
      await backspace(page, 'color: red'.length);
      await page.keyboard.type('col');
      await takeOption(page, /color/);
      await page.keyboard.type('bl');
      await takeOption(page, 'blue');
      await page.locator('.cm-content').getByText('color: blue').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a change that another user has saved in the meantime is kept together with the edit',
    async run({ browser, cluster, tokens }) {
      const page = await browser.signIn(tokens.admin, 'k/deployments.apps/shop/web/yaml');
      await goBehind(page, 'replicas: 3');
      await backspace(page, 1);
      await page.keyboard.type('1');
      await cluster.kubectl('label', 'deployment', 'web', '-n', 'shop', 'by=somebody');
      await page.getByRole('button', { name: 'Put my changes on the newer one' }).click();
      await page.getByRole('button', { name: 'Review changes' }).click();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Deployment web is saved.').waitFor();
      await waitFor('both changes', async () => {
        const { metadata, spec } = await web(cluster);
        return metadata?.labels?.by === 'somebody' && spec?.replicas === 1;
      });
      await page.context().close();
    },
  },
];
