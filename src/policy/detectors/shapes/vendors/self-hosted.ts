import { readTable } from '../table.ts';

/** Services that people run themselves. */
export const selfHosted = readTable(`
  Leantime                  lt_<alnum:32>_<alnum:32>  https://docs.leantime.io/  -
  Matrix Authentication Service  <mat|mar|mct|mcr|mpt>_<alnum:30>_<alnum:6>  https://github.com/element-hq/matrix-authentication-service  -
  NetBox                    nbt_<alnum:12>.<alnum:40>  https://netboxlabs.com/docs/netbox/integrations/rest-api/  -
  Outline                   ol_<api|at|rt|sk>_<alnum:36-48>  https://www.getoutline.com/developers  -
  Pelican                   <pacc|papp|peli>_<alnum:32-48>  https://pelican.dev/docs/  -
  Plane                     plane_api_<hex:32>  https://developers.plane.so/api-reference/introduction  -
  Portainer                 ptr_<base64:43-44>  https://docs.portainer.io/api/access  -
  Pterodactyl               ptl<a|c>_<alnum:43>  https://github.com/pterodactyl/panel  -
  Uptime Kuma               uk<digits:1-4>_<key:38-42>  https://github.com/louislam/uptime-kuma/wiki/API-Keys  -
  Vikunja                   tk_<hex:40>  https://vikunja.io/docs/api-tokens/  -
`);
