/** Login, rights of users, and the end of a session. */
import assert from 'node:assert/strict';
import { barriers } from './accessibility.ts';
import type { Step } from './step.ts';

export const accessSteps: readonly Step[] = [
  {
    name: 'a wrong token is rejected with a message, and the login page stays',
    async run({ browser }) {
      const page = await browser.open();
      await page.goto('/dashboard/');
      await page.getByLabel('Token').fill('wrong');
      assert.deepEqual(await barriers(page), []);
      await browser.picture(page, 'login');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      assert.notEqual(await page.getByRole('alert').textContent(), '');
      await page.getByLabel('Token').waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a user of one namespace sees only its objects, and no action that would be rejected',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'k/pods');
      const links = page.getByRole('navigation', { name: 'Pages and kinds' });
      await page.getByRole('link', { name: /^web-/ }).first().waitFor();
      assert.equal(await links.getByRole('link', { name: 'Nodes', exact: true }).count(), 0);
      assert.equal(await links.getByRole('link', { name: 'Secrets', exact: true }).count(), 0);
      await page.getByRole('link', { name: /^web-/ }).first().click();
      await page.getByRole('heading', { name: /^web-/ }).waitFor();
      await page.getByRole('heading', { name: 'Containers' }).waitFor();
      for (const name of ['Edit', 'Delete'])
        assert.equal(await page.getByRole('button', { name }).count(), 0);
      await page.goto('/dashboard/k/nodes');
      assert.match((await page.getByRole('alert').textContent()) ?? '', /cannot list resource "nodes"/);
      await page.goto('/dashboard/k/secrets/shop/password');
      await page.getByText(/cannot get resource "secrets"/).waitFor();
      await page.context().close();
    },
  },
  {
    name: 'a session that ended elsewhere leads to the login page',
    async run({ browser, tokens }) {
      const page = await browser.signIn(tokens.viewer, 'k/pods');
      await page.getByRole('link', { name: /^web-/ }).first().waitFor();
      await page.context().clearCookies();
      await page.getByRole('link', { name: 'Deployments', exact: true }).click();
      await page.getByLabel('Token').waitFor();
      assert.match((await page.getByRole('alert').textContent()) ?? '', /session has ended/);
      assert.equal(await page.evaluate(() => localStorage.getItem('minik8s-session')), null);
      await page.context().close();
    },
  },
];
