// The pages as programs on this machine serve them: @fedkm/web/server.

export {
  type DashboardSource,
  dashboardAddress,
  openDashboard,
  serveDashboard,
} from "./dashboard.ts";
export { type ServedPages, servePlayground } from "./pages.ts";
