/* SPDX-License-Identifier: Apache-2.0 */
/* absent.c - the rows of iceoryx where it was not there when this was built. */
#include "iceoryx.h"

static double
absent(void)
{
	return hb_skip("built without iceoryx (libiceoryx-binding-c-dev, iceoryx)");
}

double
hb_iceoryx_spin(const struct hb_env *env, int arg)
{
	(void)env;
	(void)arg;
	return absent();
}

double
hb_iceoryx_sleep(const struct hb_env *env, int arg)
{
	(void)env;
	(void)arg;
	return absent();
}

double
hb_iceoryx_saturated(const struct hb_env *env, int arg)
{
	(void)env;
	(void)arg;
	return absent();
}
